/* SPDX-License-Identifier: MIT
 * Builds whose first tries fail. The builder tries the next seed, and later a larger array.
 * Progress does not count a key again in a later try. The tests wrap weir__fuse_peel() to make its
 * calls fail. */
#include <errno.h>
#include "../built_sets.h"
#include "kinds/common/fuse_build.h"

enum { TRIES = 10 }; /* seeds that the builder tries for one array */

static unsigned failures; /* calls of weir__fuse_peel() that still have to fail */
static unsigned successes_first;   /* calls that succeed before the failures */

/* The linker option --wrap defines these names, so no header declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* typeof gives both names the type of the wrapped function */
__typeof__(weir__fuse_peel) __real_weir__fuse_peel, __wrap_weir__fuse_peel;

bool __wrap_weir__fuse_peel(struct weir_fuse_room *room, const struct weir_fuse *part, uint64_t n,
                            uint64_t marked, uint64_t seed)
{
	bool peels = __real_weir__fuse_peel(room, part, n, marked, seed);
	if (!failures || (successes_first && successes_first--))
		return peels;
	failures--;
	return false;
}

/* Build a set with the first @n tries failing. Return: the bytes of the set, or a negative
 * errno. */
static int64_t built_within(uint64_t max_bytes, unsigned n, uint64_t last[2])
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_params p = params();
	struct weir_stats s = WEIR_STATS_INIT;
	struct weir_builder *b = NULL;
	struct weir_filter *f = NULL;
	o.progress = count; /* count() asserts that done is at most total */
	o.progress_arg = last;
	p.max_bytes = max_bytes;
	p.capacity = max_bytes ? KEYS : 0;
	assert_ok(weir_builder_create(&b, &p, &o));
	for (uint64_t i = 0; i < KEYS; i++) {
		const uint64_t key = test_key(i);
		assert_ok(weir_builder_add(b, &key, 8));
	}
	failures = n;
	int err = weir_builder_finish(&f, b, NULL);
	weir_builder_destroy(b);
	if (err)
		return err;
	for (uint64_t i = 0; i < KEYS; i++) {
		const uint64_t key = test_key(i);
		assert_true(weir_contains(f, &key, 8));
	}
	assert_ok(weir_measure(f, WEIR_SAMPLED, &s));
	weir_destroy(f);
	return (int64_t)s.bytes;
}

static int64_t built_after(unsigned n, uint64_t last[2])
{
	return built_within(0, n, last);
}

static void after_a_failed_try_the_next_seed_is_tried(void **state)
{
	uint64_t last[2] = { 0, 0 };
	(void)state;
	const int64_t bytes = built_after(0, last);
	assert_true(last[0] == 2 * KEYS && last[1] == 2 * KEYS);
	for (unsigned n = 1; n < TRIES; n++) {
		last[0] = 0;
		assert_int_equal(built_after(n, last), bytes);
		assert_int_equal(last[0], 2 * KEYS);
	}
}

static void after_all_seeds_a_larger_array_is_tried(void **state)
{
	uint64_t last[2] = { 0, 0 };
	(void)state;
	int64_t before = built_after(0, last);
	for (unsigned n = TRIES; n <= 4 * TRIES; n += TRIES) {
		last[0] = 0;
		const int64_t bytes = built_after(n, last);
		assert_true(bytes > before);
		assert_true(last[0] == 2 * KEYS && last[1] == 2 * KEYS);
		before = bytes;
	}
	last[0] = 0;
	assert_refused(built_after(5 * TRIES, last), -ENOSPC, "20000 keys cannot be built", "");
	assert_true(last[0] < 2 * KEYS);
}

static void progress_counts_each_part_once_if_another_part_fails(void **state)
{
	enum { MANY = 2200000 };
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_params p = params();
	struct weir_filter *f = NULL;
	uint64_t last[2] = { 0, 0 }, *hashes = malloc(MANY * sizeof *hashes);
	(void)state;
	assert_non_null(hashes);
	for (uint64_t i = 0; i < MANY; i++)
		hashes[i] = test_key(i);
	o.progress = count;
	o.progress_arg = last;
	o.threads = 1;
	successes_first = 1;
	failures = TRIES;
	assert_ok(weir_build(&f, &p, weir_keys_hashes(hashes, MANY), &o));
	assert_true(successes_first == 0 && failures == 0);
	assert_true(last[0] == 2 * MANY && last[1] == 2 * MANY);
	for (uint64_t i = 0; i < MANY; i++)
		assert_true(weir_contains_hash(f, hashes[i]));
	weir_destroy(f);
	free(hashes);
}

static void a_larger_array_stays_within_max_bytes(void **state)
{
	uint64_t last[2] = { 0, 0 };
	(void)state;
	const uint64_t bytes = (uint64_t)built_after(0, last);
	const uint64_t more = (uint64_t)built_after(TRIES, last);
	assert_int_equal(built_within(more, TRIES, last), more);
	assert_int_equal(built_within(bytes, TRIES - 1, last), bytes);
	assert_refused(built_within(more - 64, TRIES, last), -ENOSPC, "cannot be built", "");
	failures = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_a_failed_try_the_next_seed_is_tried),
		cmocka_unit_test(after_all_seeds_a_larger_array_is_tried),
		cmocka_unit_test(progress_counts_each_part_once_if_another_part_fails),
		cmocka_unit_test(a_larger_array_stays_within_max_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
