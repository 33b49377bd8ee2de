/* SPDX-License-Identifier: MIT
 * Files that shrink, grow, are overwritten or go live while they are read. The progress function
 * makes the change after the first shard, so every run is the same. */
#include <errno.h>
#include "../image_bytes.h"
#include "../folder.h"

static int shrink(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	return done < total ? truncate(path, (off_t)(IMAGE_PAGE + done + 1)) : 0;
}

static int grow(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done;
	return truncate(path, (off_t)(IMAGE_PAGE + total + 1));
}

static int overwrite(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done;
	int fd = open(path, O_WRONLY);
	int answer = pwrite(fd, "other", 5, (off_t)(IMAGE_PAGE + total - 5)) == 5 ? 0 : 1;
	close(fd);
	return answer;
}

static int go_live(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	struct weir_load_options options = { sizeof options, .no_verify = true };
	return overwrite(arg, done, total) || truncate(path, (off_t)(IMAGE_PAGE + total)) ||
	       weir_load(arg, weir_location_map(path, WEIR_MAP_LIVE), &options);
}

/* The argument of go_live_and_seal(). Its first call, between two shards, maps the image live,
 * inserts and seals; later calls do nothing. @done: the first call has begun. @answer: the answer
 * that the seal must give. */
struct sealed {
	bool done;
	int answer;
};

static int go_live_and_seal(void *arg, uint64_t done, uint64_t total)
{
	struct weir_filter *f;
	struct sealed *sealed = arg;
	(void)done, (void)total;
	if (sealed->done)
		return 0;
	sealed->done = true;
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_LIVE), NULL));
	for (uint64_t i = 0; i < 1000; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_int_equal(weir_seal(f), sealed->answer);
	weir_destroy(f);
	return 0;
}

static void save_fresh(void)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 200000, 0.01);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
}

static void test_changes_while_read(void **state)
{
	static const struct {
		weir_progress_fn *change;
		const char *word;
	} cases[] = { { shrink, "ends at byte" }, { grow, "goes on" }, { overwrite, "shard" } };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(cases); i++)
		for (int how = 0; how < 3; how++) {
			struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
			struct weir_filter *g = NULL;
			save_fresh();
			o.progress = cases[i].change;
			enum weir_map_mode mode = how == 1 ? WEIR_MAP_READ : WEIR_MAP_LIVE;
			int answer = how == 0 ? weir_load(&g, weir_location_path(path), &o) :
			                        weir_load(&g, weir_location_map(path, mode), &o);
			assert_refused(answer, -EBADMSG, path, cases[i].word);
			assert_null(g);
		}
}

/* @mode: enum weir_map_mode, or a larger number to load without a mapping. */
static int read_image(struct weir_filter **out, unsigned mode, const struct weir_load_options *o)
{
	return weir_load(out, mode > WEIR_MAP_LIVE ?
	                 weir_location_path(path) :
	                 weir_location_map(path, (enum weir_map_mode)mode), o);
}

/* Another process maps the image live and inserts while the image is verified. If the verification
 * is part of a live mapping, it succeeds. Any other reader gets -EBUSY. */
static void test_goes_live_while_verified(void **state)
{
	(void)state;
	for (unsigned mode = WEIR_MAP_READ; mode <= WEIR_MAP_LIVE + 1; mode++) {
		struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
		struct weir_filter *g = NULL, *live = NULL;
		save_fresh();
		o.progress = go_live;
		o.progress_arg = &live;
		int answer = read_image(&g, mode, &o);
		if (mode == WEIR_MAP_LIVE)
			assert_ok(answer);
		else
			assert_refused(answer, -EBUSY, path, "live");
		weir_destroy(g);
		weir_destroy(live);
	}
}

/* Another process maps live, inserts and seals during a read. The checksums differ, but the image
 * is whole: the reader gets -EBUSY, and the next read succeeds. If the reader is a live mapping
 * itself, the seal of the other process fails. */
static void test_sealed_while_read(void **state)
{
	(void)state;
	for (unsigned mode = WEIR_MAP_READ; mode <= WEIR_MAP_LIVE + 1; mode++) {
		struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
		struct weir_filter *g = NULL;
		struct sealed sealed = { .answer = mode == WEIR_MAP_LIVE ? -EBUSY : 0 };
		save_fresh();
		o.progress = go_live_and_seal;
		o.progress_arg = &sealed;
		int answer = read_image(&g, mode, &o);
		assert_true(sealed.done);
		if (mode != WEIR_MAP_LIVE) { /* a live mapping retries by itself */
			assert_refused(answer, -EBUSY, path, "sealed");
			assert_ok(read_image(&g, mode, &o));
		} else {
			assert_ok(answer);
		}
		for (uint64_t i = 0; i < 1000; i++)
			assert_true(weir_contains_hash(g, test_key(i)));
		weir_destroy(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes_while_read),
		cmocka_unit_test(test_goes_live_while_verified),
		cmocka_unit_test(test_sealed_while_read),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
