/* SPDX-License-Identifier: MIT
 * Builds of which some tries fail: the next seed is tried, then a larger array. What progress is
 * called with counts each key once for all that. The library's peeling is made to fail here. */
#include <errno.h>
#include "../built_sets.h"
#include "kinds/common/fuse_peel.h"

enum { TRIES = 10 }; /* of one array */

static unsigned failures; /* to come */

/* Only the linker knows these names. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

bool __real_weir__fuse_peel(struct weir_fuse_room *room, const struct weir_fuse *part, uint64_t n,
                            uint64_t seed);
bool __wrap_weir__fuse_peel(struct weir_fuse_room *room, const struct weir_fuse *part, uint64_t n,
                            uint64_t seed)
{
	bool peels = __real_weir__fuse_peel(room, part, n, seed);
	if (!failures)
		return peels;
	failures--;
	return false;
}

/* Builds a set after so many failures. Return: bytes, or a negative errno. */
static int64_t built_after(unsigned n, uint64_t last[2])
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	const struct weir_params p = params();
	struct weir_stats s = WEIR_STATS_INIT;
	struct weir_builder *b = NULL;
	struct weir_filter *f = NULL;
	o.progress = count; /* which asserts that done is never above total */
	o.progress_arg = last;
	assert_ok(weir_builder_create(&b, &p, &o));
	for (uint64_t i = 0; i < KEYS; i++) {
		const uint64_t key = test_key(i);
		assert_ok(weir_builder_add(b, &key, 8));
	}
	failures = n;
	int err = weir_builder_finish(b, &f, NULL);
	weir_builder_destroy(b);
	if (err)
		return err;
	for (uint64_t i = 0; i < KEYS; i++) {
		const uint64_t key = test_key(i);
		assert_true(weir_contains(f, &key, 8));
	}
	assert_ok(weir_stats(f, &s));
	weir_destroy(f);
	return (int64_t)s.bytes;
}

static void another_seed(void **state)
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

static void a_larger_array(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_seed),
		cmocka_unit_test(a_larger_array),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
