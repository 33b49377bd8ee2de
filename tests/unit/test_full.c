/* SPDX-License-Identifier: MIT
 * Inserts through a handle into full filters. A successful insert has reached every filter that
 * the handle writes to. If the current or the next filter refuses a key, the handle removes the key
 * from the other filters. If only the previous filter refuses a key, that filter becomes void. */
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

static void a_full_current_filter_refuses_inserts(void **state)
{
	struct weir_handle *h = full_open(&bounded_removes, 2);
	(void)state;
	assert_int_equal(weir_handle_insert_hash(h, 1), WEIR_NEW);
	assert_int_equal(weir_handle_insert_hash(h, 2), WEIR_NEW);
	assert_says(weir_handle_insert_hash(h, 3), -ENOSPC, "2 copies are all it takes");
	/* during a reload into a larger filter, the next filter does not get the refused key
	 * either */
	struct weir_reload *r = full_begin(h, &bounded_removes, 9, false);
	assert_says(weir_handle_insert_hash(h, 3), -ENOSPC, "2 copies are all it takes");
	assert_false(weir_contains_hash(weir_reload_next(r), 3));
	/* the filters have different shapes, so no copy is possible */
	assert_int_equal(weir_reload_copy(r, WEIR_ALL_SETS), -EINVAL);
	assert_int_equal(weir_reload_insert_hash(r, 1), WEIR_NEW);
	assert_int_equal(weir_reload_insert_hash(r, 2), WEIR_NEW);
	assert_ok(weir_reload_commit(r));
	assert_int_equal(weir_handle_insert_hash(h, 3), WEIR_NEW);
	for (unsigned i = 1; i <= 3; i++)
		assert_true(weir_handle_contains_hash(h, i));
	assert_ok(weir_handle_destroy(h));
}

static void a_full_next_filter_refuses_inserts(void **state)
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

static void without_removal_the_refused_key_stays_in_current(void **state)
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

/* Return: a handle whose previous filter stores at most @most keys and already has key 1. */
static struct weir_handle *with_previous(uint32_t most)
{
	struct weir_handle *h = full_open(&bounded_removes, most);
	assert_int_equal(weir_handle_insert_hash(h, 1), WEIR_NEW);
	struct weir_reload *r = full_begin(h, &bounded_removes, 9, true);
	assert_int_equal(weir_reload_insert_hash(r, 1), WEIR_NEW);
	assert_ok(weir_reload_commit(r));
	return h;
}

static void a_full_previous_filter_becomes_void(void **state)
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

static void a_reload_frees_a_void_filter_first(void **state)
{
	struct weir_handle *h = with_previous(1);
	(void)state;
	assert_int_equal(weir_handle_insert_hash(h, 2), WEIR_NEW);
	uint64_t bytes = stats_of(h).bytes;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	o.max_bytes = bytes; /* room for two filters, so the void filter must be freed first */
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_int_equal(stats_of(h).bytes, bytes);
	assert_ok(weir_reload_copy(r, WEIR_ALL_SETS));
	assert_int_equal(weir_handle_insert_hash(h, 3), WEIR_NEW);
	assert_ok(weir_reload_commit(r));
	for (unsigned i = 1; i <= 3; i++)
		assert_int_equal(full_count(h, i), 1);
	assert_ok(weir_handle_destroy(h));
}

static void a_refresh_frees_a_void_filter_first(void **state)
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

static void after_a_rollback_current_can_be_previous_again(void **state)
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

static void next_refuses_before_previous_gets_the_key(void **state)
{
	struct weir_handle *h = with_previous(1);
	(void)state;
	struct weir_reload *r = full_begin(h, &bounded_removes, 0, false);
	assert_says(weir_handle_insert_hash(h, 2), -ENOSPC, "the next filter");
	assert_true(stats_of(h).previous_kept);
	weir_reload_abort(r);
	assert_ok(weir_handle_destroy(h));
}

static void nearly_full_is_reported(void **state)
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
	/* a kind that never refuses keys is never nearly full */
	assert_false(s.nearly_full || figures_of(h).nearly_full);
	assert_ok(weir_handle_destroy(h));
}

/* Each filter makes its own key from the text. */
static void a_refused_text_is_removed_from_each_filter(void **state)
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
		cmocka_unit_test(a_full_current_filter_refuses_inserts),
		cmocka_unit_test(a_full_next_filter_refuses_inserts),
		cmocka_unit_test(without_removal_the_refused_key_stays_in_current),
		cmocka_unit_test(a_full_previous_filter_becomes_void),
		cmocka_unit_test(a_reload_frees_a_void_filter_first),
		cmocka_unit_test(a_refresh_frees_a_void_filter_first),
		cmocka_unit_test(after_a_rollback_current_can_be_previous_again),
		cmocka_unit_test(next_refuses_before_previous_gets_the_key),
		cmocka_unit_test(nearly_full_is_reported),
		cmocka_unit_test(a_refused_text_is_removed_from_each_filter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
