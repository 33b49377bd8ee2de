/* SPDX-License-Identifier: MIT
 * Built sets that replace other sets or are replaced. The tests cover sets of other kinds,
 * rollbacks, mapped sets and the first set of a handle. */
#include <errno.h>
#include <unistd.h>
#include "../built_sets.h"
#include "../folder.h"

/* While the current and the previous set are built sets, the handle refuses inserts. */
static void a_rollback_returns_to_a_built_set(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle *h = handle(0);
	(void)state;
	o.keep_previous = true;
	struct weir_reload *r = begun(h, &o);
	fill(r, 0, KEYS);
	assert_ok(weir_reload_commit(r));
	assert_true(stats_of(h).previous_kept);
	assert_refused(weir_handle_insert(h, "key", 3), -ENOTSUP, "kind fuse", "");
	r = begun(h, &o); /* begin a reload while the previous set is kept */
	fill(r, 0, 10);
	weir_reload_abort(r);
	assert_new(h, KEYS);
	assert_ok(weir_handle_rollback(h));
	assert_old(h);
	weir_handle_destroy(h);
}

/* Once the handle accepts inserts, a built set can no longer replace the current set. */
static void a_set_that_takes_inserts_may_replace_a_built_set(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params next = params();
	struct weir_reload *r = NULL;
	struct weir_handle *h = handle(0);
	(void)state;
	next.kind = WEIR_BLOCKED;
	next.capacity = KEYS;
	o.params = &next;
	r = begun(h, &o);
	assert_non_null(weir_reload_next(r));
	assert_refused(weir_handle_insert(h, "key", 3), -ENOTSUP, "kind fuse", "inserts");
	weir_reload_abort(r);
	r = begun(h, &o);
	assert_ok(weir_reload_commit(r));
	assert_int_equal(weir_handle_insert(h, "key", 3), WEIR_NEW);
	next = params();
	assert_refused(weir_reload_begin(&r, h, &o), -ENOTSUP, "kind fuse takes no inserts",
	               "of kind blocked");
	assert_true(weir_handle_contains(h, "key", 3));
	weir_handle_destroy(h);
}

/* A built set cannot take the inserted key, so a rollback would lose the key. */
static void an_insert_makes_a_built_previous_set_void(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params next = params();
	struct weir_handle *h = handle(0);
	(void)state;
	next.kind = WEIR_BLOCKED;
	next.capacity = KEYS;
	o.params = &next;
	o.keep_previous = true;
	struct weir_reload *r = begun(h, &o);
	assert_ok(weir_reload_commit(r));
	assert_true(stats_of(h).previous_kept);
	assert_ok(weir_handle_rollback(h));
	assert_old(h);
	r = begun(h, &o);
	assert_ok(weir_reload_commit(r));
	assert_int_equal(weir_handle_insert(h, "key", 3), WEIR_NEW);
	assert_true(stats_of(h).previous_void);
	assert_refused(weir_handle_rollback(h), -ENOENT, "", "");
	assert_true(weir_handle_contains(h, "key", 3));
	weir_handle_destroy(h);
}

static void a_built_set_may_replace_a_read_only_map(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params next = params();
	struct weir_filter *f = NULL;
	struct weir_handle *h = NULL;
	(void)state;
	next.kind = WEIR_BLOCKED;
	next.capacity = KEYS;
	assert_ok(weir_create(&f, &next));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	f = NULL;
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL));
	assert_ok(weir_handle_create(&h, f, NULL));
	next = params();
	o.params = &next;
	struct weir_reload *r = begun(h, &o);
	fill(r, 0, KEYS);
	assert_ok(weir_reload_commit(r));
	assert_new(h, KEYS);
	weir_handle_destroy(h);
}

static void the_first_set_can_be_built_unless_inserts_are_kept(void **state)
{
	struct weir_handle_options ho = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params next = params();
	struct weir_reload *r = NULL;
	struct weir_handle *h = NULL;
	(void)state;
	ho.absent = WEIR_ABSENT_NO;
	ho.flags = WEIR_HANDLE_ANY_SEED;
	o.params = &next;
	assert_ok(weir_handle_create(&h, NULL, &ho));
	assert_refused(weir_reload_begin(&r, h, NULL), -EINVAL, "options.params is NULL", "no set");
	r = begun(h, &o);
	fill(r, 0, KEYS);
	assert_ok(weir_reload_commit(r));
	assert_new(h, KEYS);
	assert_ok(weir_save(weir_handle_get(h), weir_location_path(path), NULL));
	weir_handle_destroy(h);
	ho.keep_inserts = 1000;
	assert_ok(weir_handle_create(&h, NULL, &ho));
	assert_ok(weir_handle_insert(h, "kept", 4));
	assert_refused(weir_reload_begin(&r, h, &o), -ENOTSUP, "kind fuse takes no inserts",
	               "keep_inserts");
	assert_refused(weir_handle_refresh(h, path, NULL), -ENOTSUP, "kind fuse takes no inserts",
	               "keep_inserts");
	weir_handle_destroy(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rollback_returns_to_a_built_set),
		cmocka_unit_test(a_set_that_takes_inserts_may_replace_a_built_set),
		cmocka_unit_test(an_insert_makes_a_built_previous_set_void),
		cmocka_unit_test(a_built_set_may_replace_a_read_only_map),
		cmocka_unit_test(the_first_set_can_be_built_unless_inserts_are_kept),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
