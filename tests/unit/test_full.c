/* SPDX-License-Identifier: MIT
 * Inserts through a handle into full filters. An acknowledged key is in every filter of the record,
 * and a refused one is taken back. A previous filter that refuses a key becomes void. */
#include "full.h"
#include "../texts.h"

#define assert_says(call, err, ...) \
	do { \
		const char *parts[] = { __VA_ARGS__ }; \
		assert_int_equal(call, err); \
		for (unsigned part = 0; part < COUNT_OF(parts); part++) \
			if (!strstr(weir_error_detail(), parts[part])) \
				fail_msg("\"%s\" lacks \"%s\"", weir_error_detail(), \
				         parts[part]); \
	} while (0)

static void current_is_full(void **state)
{
	struct weir_handle *h = full_open(&bounded_removes, 2);
	(void)state;
	assert_int_equal(weir_handle_insert_hash(h, 1), WEIR_NEW);
	assert_int_equal(weir_handle_insert_hash(h, 2), WEIR_NEW);
	assert_says(weir_handle_insert_hash(h, 3), -ENOSPC, "2 copies are all it takes");
	/* also during a reload into a larger one, which does not get the refused key */
	struct weir_reload *r = full_begin(h, &bounded_removes, 9, false);
	assert_says(weir_handle_insert_hash(h, 3), -ENOSPC, "2 copies are all it takes");
	assert_false(weir_contains_hash(weir_reload_next(r), 3));
	assert_int_equal(weir_reload_copy(r, WEIR_ALL_SETS), -EINVAL); /* of another shape */
	assert_int_equal(weir_reload_insert_hash(r, 1), WEIR_NEW);
	assert_int_equal(weir_reload_insert_hash(r, 2), WEIR_NEW);
	assert_ok(weir_reload_commit(r));
	assert_int_equal(weir_handle_insert_hash(h, 3), WEIR_NEW);
	for (unsigned i = 1; i <= 3; i++)
		assert_true(weir_handle_contains_hash(h, i));
	assert_ok(weir_handle_destroy(h));
}

static void next_is_full(void **state)
{
	struct weir_handle *h = full_open(&bounded_removes, 9);
	(void)state;
	assert_int_equal(weir_handle_insert_hash(h, 1), WEIR_NEW);
	struct weir_reload *r = full_begin(h, &bounded_removes, 2, false);
	assert_int_equal(weir_handle_insert_hash(h, 1), WEIR_SEEN);
	assert_int_equal(weir_handle_insert_hash(h, 2), WEIR_NEW);
	assert_says(weir_handle_insert_hash(h, 3), -ENOSPC, "the next filter", "2 copies",
	            "taken back from the current one");
	assert_says(weir_handle_insert_hash(h, 1), -ENOSPC, "taken back");
	assert_false(weir_handle_contains_hash(h, 3));
	assert_int_equal(full_count(h, 1), 2);
	weir_reload_abort(r);
	assert_int_equal(weir_handle_insert_hash(h, 3), WEIR_NEW);
	assert_ok(weir_handle_destroy(h));
}

/* The current filter cannot remove the refused key, which stays as a false positive. */
static void next_is_full_and_current_keeps(void **state)
{
	struct weir_handle *h = full_open(&bounded_keeps, 9);
	(void)state;
	struct weir_reload *r = full_begin(h, &bounded_keeps, 0, false);
	assert_says(weir_handle_insert_hash(h, 3), -ENOSPC, "the next filter", "0 copies",
	            "cannot remove it, keeps it");
	assert_true(weir_handle_contains_hash(h, 3));
	weir_reload_abort(r);
	assert_ok(weir_handle_destroy(h));
}

/* A handle whose previous filter has room for @most keys, key 1 among them. */
static struct weir_handle *with_previous(uint32_t most)
{
	struct weir_handle *h = full_open(&bounded_removes, most);
	assert_int_equal(weir_handle_insert_hash(h, 1), WEIR_NEW);
	struct weir_reload *r = full_begin(h, &bounded_removes, 9, true);
	assert_int_equal(weir_reload_insert_hash(r, 1), WEIR_NEW);
	assert_ok(weir_reload_commit(r));
	return h;
}

static void previous_is_full(void **state)
{
	struct weir_handle *h = with_previous(2);
	(void)state;
	assert_int_equal(weir_handle_insert_hash(h, 2), WEIR_NEW);
	assert_true(stats_of(h).previous_kept && !stats_of(h).previous_void);
	assert_int_equal(weir_handle_insert_hash(h, 3), WEIR_NEW);
	assert_true(!stats_of(h).previous_kept && stats_of(h).previous_void);
	uint64_t bytes = stats_of(h).bytes;
	assert_int_equal(weir_handle_insert_hash(h, 4), WEIR_NEW);
	assert_says(weir_handle_rollback(h), -ENOENT, "weir_handle_rollback", "is void",
	            "weir_handle_drop_previous() frees it");
	for (unsigned i = 1; i <= 4; i++)
		assert_int_equal(full_count(h, i), 1);
	assert_ok(weir_handle_drop_previous(h));
	assert_false(stats_of(h).previous_void);
	assert_int_equal(stats_of(h).bytes, bytes / 2);
	assert_says(weir_handle_rollback(h), -ENOENT, "no previous filter is kept");
	assert_ok(weir_handle_destroy(h));
}

/* The next reload frees the void filter before it makes its own. */
static void previous_is_freed(void **state)
{
	struct weir_handle *h = with_previous(1);
	(void)state;
	assert_int_equal(weir_handle_insert_hash(h, 2), WEIR_NEW);
	uint64_t bytes = stats_of(h).bytes;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	o.max_bytes = bytes; /* two filters: with the void one it would be three */
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_int_equal(stats_of(h).bytes, bytes);
	assert_ok(weir_reload_copy(r, WEIR_ALL_SETS));
	assert_int_equal(weir_handle_insert_hash(h, 3), WEIR_NEW);
	assert_ok(weir_reload_commit(r));
	for (unsigned i = 1; i <= 3; i++)
		assert_int_equal(full_count(h, i), 1);
	assert_ok(weir_handle_destroy(h));
}

static void a_refresh_frees_it(void **state)
{
	struct weir_handle *h = with_previous(1);
	(void)state;
	assert_int_equal(weir_handle_insert_hash(h, 2), WEIR_NEW);
	assert_true(stats_of(h).previous_void);
	assert_int_equal(weir_handle_refresh(h, "/nowhere/at/all", NULL), -ENOENT);
	assert_false(stats_of(h).previous_void);
	assert_int_equal(full_count(h, 2), 1);
	assert_ok(weir_handle_destroy(h));
}

/* A filter that a rollback returned to can be a previous filter again. */
static void rolled_back_and_kept_again(void **state)
{
	struct weir_handle *h = with_previous(3);
	(void)state;
	assert_int_equal(weir_handle_insert_hash(h, 2), WEIR_NEW);
	assert_ok(weir_handle_rollback(h));
	assert_int_equal(full_count(h, 2), 1);
	struct weir_reload *r = full_begin(h, &bounded_removes, 9, true);
	for (unsigned i = 1; i <= 2; i++)
		assert_int_equal(weir_reload_insert_hash(r, i), WEIR_NEW);
	assert_ok(weir_reload_commit(r));
	assert_int_equal(weir_handle_insert_hash(h, 3), WEIR_NEW);
	assert_true(stats_of(h).previous_kept);
	assert_int_equal(weir_handle_insert_hash(h, 4), WEIR_NEW);
	assert_true(stats_of(h).previous_void);
	assert_ok(weir_handle_destroy(h));
}

/* With previous, current and next: if next refuses, the insert does not reach previous. */
static void next_before_previous(void **state)
{
	struct weir_handle *h = with_previous(1);
	(void)state;
	struct weir_reload *r = full_begin(h, &bounded_removes, 0, false);
	assert_says(weir_handle_insert_hash(h, 2), -ENOSPC, "the next filter");
	assert_true(stats_of(h).previous_kept);
	weir_reload_abort(r);
	assert_ok(weir_handle_destroy(h));
}

static void nearly_full(void **state)
{
	struct weir_handle *h = full_open(&bounded_removes, 20);
	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(stats_of(h).nearly_full, i >= 18);
		assert_int_equal(figures_of(h).nearly_full, i >= 18);
		assert_int_equal(weir_handle_insert_hash(h, i), WEIR_NEW);
	}
	assert_true(stats_of(h).nearly_full);
	assert_ok(weir_handle_destroy(h));
	assert_ok(weir_handle_create(&h, test_filter(WEIR_BLOCKED, 100, 0.01), NULL));
	for (unsigned i = 0; i < 1000; i++)
		assert_true(weir_handle_insert_hash(h, test_key(i)) >= 0);
	const struct weir_handle_stats s = stats_of(h);
	assert_false(s.nearly_full || figures_of(h).nearly_full); /* it refuses nothing */
	assert_ok(weir_handle_destroy(h));
}

/* A refused text is taken back as the key that each filter makes of it. */
static void texts(void **state)
{
	struct weir_text lower = { .steps = WEIR_TEXT_LOWERCASE };
	struct weir_handle *h = NULL;
	struct weir_filter *f = bounded_make(&bounded_removes, FULL_LINES, 9);
	(void)state;
	test_text_set(f, &lower);
	assert_ok(weir_handle_create(&h, f, NULL));
	struct weir_reload *r = full_begin(h, &bounded_removes, 1, false);
	assert_int_equal(weir_handle_insert(h, "ABC", 3), WEIR_NEW);
	assert_int_equal(weir_handle_contains(h, "abc", 3), 1);
	assert_says(weir_handle_insert(h, "XYZ", 3), -ENOSPC, "taken back");
	assert_int_equal(weir_handle_contains(h, "xyz", 3), 0);
	assert_says(weir_handle_insert(h, "key", 3), -ENOSPC, "taken back");
	assert_false(weir_handle_contains(h, "key", 3));
	weir_reload_abort(r);
	assert_ok(weir_handle_destroy(h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(current_is_full),
		cmocka_unit_test(next_is_full),
		cmocka_unit_test(next_is_full_and_current_keeps),
		cmocka_unit_test(previous_is_full),
		cmocka_unit_test(previous_is_freed),
		cmocka_unit_test(a_refresh_frees_it),
		cmocka_unit_test(rolled_back_and_kept_again),
		cmocka_unit_test(next_before_previous),
		cmocka_unit_test(nearly_full),
		cmocka_unit_test(texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
