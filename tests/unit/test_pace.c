/* SPDX-License-Identifier: MIT
 * weir_reload_options.pace: a loader sleeps in proportion to its work, never sleeps inside a read
 * section, and builds the same filter as without a pace. */
#include <sys/mman.h>
#include "../paced.h"
#include "filter/filter.h"
#include "set/reload/pace.h"

enum { KEYS = 100000 };

static uint64_t *hashes;

static int group_setup(void **state)
{
	(void)state;
	hashes = malloc(KEYS * sizeof *hashes);
	assert_non_null(hashes);
	for (uint64_t i = 0; i < KEYS; i++)
		hashes[i] = test_key(i);
	return 0;
}

static int group_teardown(void **state)
{
	(void)state;
	free(hashes);
	return 0;
}

static struct weir_reload *begin(struct weir_handle *h, double pace)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	o.pace = pace;
	assert_ok(weir_reload_begin(&r, h, &o));
	return r;
}

static void test_a_loader_sleeps_in_proportion(void **state)
{
	static const double paces[] = { 1, 0.5, 0.1, 0.003 };
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, CAPACITY);
		insert_into(h, 0, 1000);
		for (unsigned i = 0; i < COUNT_OF(paces); i++) {
			start(flavor);
			struct weir_reload *r = begin(h, paces[i]);
			uint64_t bytes = figures_of(h).bytes;
			assert_rested_but(paces[i], pieces(bytes, 2 << 20), LEAST);
			start(flavor);
			assert_int_equal(weir_reload_insert_keys(r, weir_keys_hashes(hashes, 0),
			                                         NULL),
			                 0);
			/* a sleep debt too small for a sleep is carried over to the next call */
			for (uint64_t at = 0; at < KEYS; at += 1000)
				assert_ok(
					weir_reload_insert_keys(r,
				                                weir_keys_hashes(hashes + at, 1000),
				                                NULL));
			assert_rested(paces[i], 1 + KEYS / 1000);
			assert_ok(weir_reload_insert_keys(r, weir_keys_hashes(hashes, KEYS), NULL));
			assert_ok(weir_reload_copy(r, WEIR_ALL_SETS));
			double turns = 1 + KEYS / 1000 + pieces(KEYS, WEIR__PACE_PIECE) +
			               pieces(bytes, 1 << 20) - 1;
			assert_rested(paces[i], turns);
			assert_ok(weir_reload_commit(r));
			assert_rested_but(paces[i], turns, LEAST); /* the commit leaves no debt */
			assert_int_equal(fake.sleeps > 0, paces[i] < 1);
			assert_int_equal(missing_in(h, 0, 1000), 0);
		}
		close_handle(flavor, h);
	}
}

static void test_without_a_pace_a_loader_never_sleeps(void **state)
{
	struct weir_handle *h = open_handle(flavors, CAPACITY);
	(void)state;
	start(flavors);
	struct weir_reload *r = begin(h, 0);
	assert_ok(weir_reload_insert_keys(r, weir_keys_hashes(hashes, KEYS), NULL));
	assert_ok(weir_reload_insert_hash(r, hashes[0]));
	assert_ok(weir_reload_copy(r, WEIR_ALL_SETS));
	assert_ok(weir_reload_commit(r));
	assert_int_equal(fake.looks, 0);
	assert_int_equal(fake.sleeps, 0);
	close_handle(flavors, h);
}

/* CPU time, in ns, of an insert of one key. It is shorter than STEP, the time to read the clock. */
static uint64_t work;

static int (*insert_of_the_kernel)(struct weir_filter *f, uint64_t hash);

static int insert_for_a_while(struct weir_filter *f, uint64_t hash)
{
	fake.cpu += work;
	return insert_of_the_kernel(f, hash);
}

static void make_inserts_take_time(struct weir_reload *r)
{
	struct weir_filter *next = (struct weir_filter *)(uintptr_t)weir_reload_next(r);
	insert_of_the_kernel = next->raw.insert_hash;
	next->raw.insert_hash = insert_for_a_while;
}

/* The library times one in WEIR__PACE_SINGLES calls and multiplies its time by WEIR__PACE_SINGLES.
 * To time a call, the library reads the clock three times ([PACE-SAMPLED]). The time of these reads
 * is not multiplied. */
static void test_single_keys_are_timed_by_sample(void **state)
{
	(void)state;
	for (work = 0; work <= STEP / 5; work += STEP / 30) {
		struct weir_handle *h = open_handle(flavors, CAPACITY);
		struct weir_reload *r = begin(h, 0.5);
		make_inserts_take_time(r);
		start(flavors);
		for (unsigned i = 0; i < 10 * WEIR__PACE_SINGLES; i++)
			assert_ok(i % 2 ? weir_reload_insert(r, &i, sizeof i) :
			                  weir_reload_insert_hash(r, hashes[i]));
		assert_int_equal(fake.looks, 3 * 10);
		/* the time of the calls, in units of STEP */
		double calls = 10.0 * WEIR__PACE_SINGLES * (double)work / STEP;
		assert_rested(0.5, 3 * 10 + calls);
		assert_ok(weir_reload_commit(r));
		close_handle(flavors, h);
	}
}

/* An interrupt delays the second reading of the clock, so the call seems to take negative time. */
static void test_a_slow_clock_makes_no_debt_of_years(void **state)
{
	struct weir_handle *h = open_handle(flavors, CAPACITY);
	struct weir_reload *r = begin(h, 0.5);
	(void)state;
	start(flavors);
	fake.long_look = 2;
	assert_ok(weir_reload_insert_hash(r, hashes[0]));
	assert_rested(0.5, 3 * LONG);
	assert_ok(weir_reload_commit(r));
	close_handle(flavors, h);
}

/* [PACE-NO-SECTION]: the loader sleeps after the section ends. */
static void test_a_loader_never_sleeps_inside_a_section(void **state)
{
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		if (!flavor->has_sections)
			continue;
		struct weir_handle *h = open_handle(flavor, CAPACITY);
		struct weir_reload *r = begin(h, 0.1);
		start(flavor);
		flavor->rcu->read_lock();
		assert_ok(weir_reload_insert_keys(r, weir_keys_hashes(hashes, KEYS), NULL));
		assert_int_equal(fake.sleeps, 0);
		flavor->rcu->read_unlock();
		assert_ok(weir_reload_insert_keys(r, weir_keys_hashes(hashes, 2), NULL));
		assert_rested(0.1, 1 + pieces(KEYS, WEIR__PACE_PIECE));
		assert_ok(weir_reload_commit(r));
		close_handle(flavor, h);
	}
}

/* The keys are inserted as hashes, as vectors and as numbers. */
static void test_a_pace_does_not_change_the_bits(void **state)
{
	struct weir_handle *h = open_handle(flavors, CAPACITY);
	struct iovec *vectors = malloc(KEYS * sizeof *vectors);
	struct weir_filter *kept = NULL;
	(void)state;
	start(flavors);
	assert_non_null(vectors);
	insert_into(h, KEYS, KEYS + 1000);
	for (size_t i = 0; i < KEYS; i++)
		vectors[i] = (struct iovec){ hashes + i, 1 + i % 8 };
	for (unsigned i = 0; i < 2; i++) {
		struct weir_reload *r = begin(h, i ? 0.1 : 0);
		assert_ok(weir_reload_insert_keys(r, weir_keys_hashes(hashes, KEYS / 2), NULL));
		assert_ok(weir_reload_insert_keys(r, weir_keys_iov(vectors, KEYS), NULL));
		assert_ok(weir_reload_insert_keys(r, weir_keys_u64(hashes, KEYS), NULL));
		assert_ok(weir_reload_copy(r, WEIR_ALL_SETS));
		const struct weir_filter *next = weir_reload_next(r);
		if (i)
			assert_memory_equal(next->array.words, kept->array.words, next->bytes);
		else
			assert_ok(weir_clone(&kept, next));
		weir_reload_abort(r);
	}
	weir_destroy(kept);
	free(vectors);
	close_handle(flavors, h);
}

static size_t absent_pages(const struct weir_filter *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = f->bytes / page, absent = 0;
	unsigned char *there = malloc(n);
	assert_non_null(there);
	assert_int_equal(mincore(f->array.words, n * page, there), 0);
	for (size_t i = 0; i < n; i++)
		absent += !(there[i] & 1);
	free(there);
	return absent;
}

/* A reload with a pace touches all pages of the next filter, so inserts cause no page faults. The
 * commit also reads a filter of at most 32 MiB into the cache, so the test has a
 * smaller and a larger filter. */
static void test_a_pace_touches_all_pages_first(void **state)
{
	(void)state;
	start(flavors);
	for (unsigned i = 0; i < 4; i++) {
		struct weir_handle *h = open_handle(flavors, i & 2 ? 8 * CAPACITY : CAPACITY);
		struct weir_reload *r = begin(h, i & 1 ? 1 : 0);
		size_t absent = absent_pages(weir_reload_next(r));
		assert_true(i & 1 ? absent == 0 : absent > 1000);
		assert_ok(weir_reload_insert_keys(r, weir_keys_hashes(hashes, KEYS), NULL));
		assert_ok(weir_reload_commit(r));
		assert_int_equal(missing_in(h, 0, KEYS), 0);
		close_handle(flavors, h);
	}
}

/* For a kind that is built once, most of the work is in the commit. */
static void test_the_commit_of_a_built_set_sleeps(void **state)
{
	(void)state;
	for (double pace = 0; pace < 1; pace += 0.5) {
		struct weir_params p = WEIR_PARAMS_INIT;
		struct weir_filter *f = NULL;
		struct weir_handle *h = NULL;
		p.kind = WEIR_FUSE;
		p.fp_rate = 0.01;
		p.seed = 1;
		assert_ok(weir_build(&f, &p, weir_keys_hashes(hashes, 100), NULL));
		assert_ok(weir_handle_create(&h, f, NULL));
		struct weir_reload *r = begin(h, pace);
		assert_ok(weir_reload_insert_keys(r, weir_keys_hashes(hashes, KEYS), NULL));
		start(flavors);
		assert_ok(weir_reload_commit(r));
		assert_true(pace > 0 ? fake.sleeps > 8 : fake.sleeps == 0);
		assert_true(weir_handle_contains_keys(h, weir_keys_hashes(hashes, KEYS), NULL) ==
		            KEYS);
		assert_ok(weir_handle_destroy(h));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_loader_sleeps_in_proportion),
		cmocka_unit_test(test_without_a_pace_a_loader_never_sleeps),
		cmocka_unit_test(test_single_keys_are_timed_by_sample),
		cmocka_unit_test(test_a_slow_clock_makes_no_debt_of_years),
		cmocka_unit_test(test_a_loader_never_sleeps_inside_a_section),
		cmocka_unit_test(test_a_pace_does_not_change_the_bits),
		cmocka_unit_test(test_a_pace_touches_all_pages_first),
		cmocka_unit_test(test_the_commit_of_a_built_set_sleeps),
	};
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
