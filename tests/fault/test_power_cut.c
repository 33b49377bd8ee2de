/* SPDX-License-Identifier: MIT
 * Power cuts at every step of a save, and of a live mapping and its seal (power.h). The models
 * save.pml and seal.pml in tests/model check the protocols; this test checks the code. After a cut
 * in a save the path is as before the save, or names the new image. After a cut in a live mapping
 * the image is live, or sealed and valid. After an answer of 0 only the new state is allowed. The
 * test must also notice a disk that ignores one sync, unless another sync repeats the ignored sync.
 * Planted bugs: schedule/mutants_image.py. */
#include <errno.h>
#include <weir/inline.h>
#include "faults.h"
#include "power.h"

enum { OLD_KEY = 1, NEW_KEY = 2, FEW = 12 };

static unsigned sync_less; /* number of the sync that the disk ignores, from 1; 0: none */

static void begin(size_t piece, power_right *right)
{
	power_begin(path, piece, right);
	shim.ignored_at = sync_less;
}

/* ---- saves ---- */

static bool replaced; /* the path had an old image */
static uint64_t capacity;
static size_t grain;

static bool saved_is_right(const unsigned char *image, size_t n, bool answered)
{
	struct weir_filter *f;
	if (!image)
		return !replaced && !answered;
	if (weir_load(&f, weir_location_memory(image, n), NULL))
		return false;
	bool is_new = weir_contains_hash(f, test_key(NEW_KEY)),
	     is_old = weir_contains_hash(f, test_key(OLD_KEY));
	weir_destroy(f);
	return is_new || (is_old && !answered);
}

static int save(uint64_t key)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, capacity, 0.001);
	assert_ok(weir_insert_hash(f, test_key(key)));
	int err = test_done(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	return err;
}

static void save_over(void)
{
	assert_ok(save(OLD_KEY));
	replaced = true;
	begin(grain, saved_is_right);
	assert_ok(save(NEW_KEY));
	power_end();
}

static void save_new(void)
{
	unlink(path);
	replaced = false;
	begin(grain, saved_is_right);
	assert_ok(save(NEW_KEY));
	power_end();
}

/* ---- live images ---- */

static bool live_is_right(const unsigned char *image, size_t n, bool answered)
{
	struct weir_filter *f;
	int err = weir_load(&f, weir_location_memory(image, n), NULL);
	if (err)
		return err == -EBUSY && !answered;
	bool all = true;
	for (uint64_t i = 0; i < FEW && answered; i++)
		all = all && weir_contains_hash(f, test_key(i));
	weir_destroy(f);
	return all;
}

static void live_and_seal(void)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 200000, 0.01);
	struct weir_inline view;
	unlink(path);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	begin(grain, live_is_right);
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	assert_ok(weir_inline_init(&view, f)); /* the bits begin on the second page */
	power_mapped((const unsigned char *)view.words - IMAGE_PAGE);
	for (uint64_t i = 0; i < FEW; i++) {
		assert_ok(weir_insert_hash(f, test_key(i)));
		power_step("the next insert");
	}
	assert_ok(weir_seal(f));
	power_end();
	weir_destroy(f);
}

/* ---- all cuts ---- */

static const struct verb {
	const char *name;
	void (*run)(void);
	bool no_tmpfile;
	const char *sync;
	unsigned syncs;
	uint64_t capacity;
	size_t grain;
} verbs[] = {
	{ "save", save_over, false, "fsync", 2, 20000, 4096 },
	{ "save to a new name", save_new, false, "fsync", 2, 20000, 4096 },
	{ "save without O_TMPFILE", save_over, true, "fsync", 2, 20000, 4096 },
	/* 2 MiB of padding, which is a hole, and 3 MiB of bits */
	{ "save with a hole", save_over, false, "fsync", 2, 1500000, 1 << 20 },
	{ "map live and seal", live_and_seal, false, "msync", 4, 0, 8 },
};

static void run(const struct verb *verb, unsigned less)
{
	shim = (struct shim){ .armed = true, .no_tmpfile = verb->no_tmpfile,
	                      .ignored = verb->sync };
	sync_less = less;
	capacity = verb->capacity;
	grain = verb->grain;
	verb->run();
	print_message("%s, sync %u less: %u cuts, %u bad: %s\n", verb->name, less, power.cuts,
	              power.bad, power.first_bad);
}

static void test_power_cuts(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(verbs); i++) {
		run(&verbs[i], 0);
		assert_true(power.cuts > 20);
		assert_int_equal(power.bad, 0);
	}
}

static void test_a_sync_less_is_found(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(verbs); i++)
		for (unsigned n = 1; n <= verbs[i].syncs; n++) {
			/* The second sync repeats the live mark, so its loss is harmless. */
			bool repeats = verbs[i].run == live_and_seal && n == 2;
			run(&verbs[i], n);
			assert_int_equal(power.bad > 0, !repeats);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_power_cuts),
		cmocka_unit_test(test_a_sync_less_is_found),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
