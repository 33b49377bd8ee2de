/* SPDX-License-Identifier: MIT
 * The result of an insert into several filters, which may hash differently. The current filter
 * decides whether the key is new. The insert fails if the current filter is read-only, but succeeds
 * if only the previous filter is read-only. */
#include <sys/uio.h>
#include "../folder.h"
#include "../handles.h"

static struct weir_handle *any_seed(struct weir_filter *first)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h;
	o.flags = WEIR_HANDLE_ANY_SEED;
	assert_ok(weir_handle_create(&h, first, &o));
	return h;
}

/* @seed: 0 for the current filter's seed. */
static struct weir_reload *begun(struct weir_handle *h, uint64_t seed)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	p.capacity = 1000;
	p.fp_rate = 1e-6;
	p.seed = seed;
	o.params = &p;
	o.keep_previous = true;
	assert_ok(weir_reload_begin(&r, h, &o));
	return r;
}

/* "old" is only in the current filter, and "loaded" only in the next filter. */
static void test_new_means_new_to_the_current_filter(void **state)
{
	struct iovec keys[] = { { (char[]){ "old" }, 3 }, { (char[]){ "loaded" }, 6 } };
	(void)state;
	for (uint64_t seed = 0; seed < 2; seed++)
		for (unsigned batch = 0; batch < 2; batch++) {
			struct weir_handle *h = any_seed(test_filter(WEIR_BLOCKED, 1000, 1e-6));
			uint64_t which = 0;
			assert_int_equal(weir_handle_insert(h, "old", 3), WEIR_NEW);
			struct weir_reload *r = begun(h, seed);
			assert_int_equal(weir_reload_insert(r, "loaded", 6), WEIR_NEW);
			if (batch) {
				assert_int_equal(weir_handle_insert_keys(h, weir_keys_iov(keys, 2),
				                                         &which),
				                 1);
				assert_int_equal(which, 2);
			} else {
				assert_int_equal(weir_handle_insert(h, "old", 3), WEIR_SEEN);
				assert_int_equal(weir_handle_insert(h, "loaded", 6), WEIR_NEW);
			}
			weir_reload_abort(r);
			assert_ok(weir_handle_destroy(h));
		}
}

static void expect_read_only(struct weir_handle *h)
{
	struct iovec key = { (char[]){ "k" }, 1 };
	uint64_t which;
	assert_refused(weir_handle_insert(h, "k", 1), -EROFS, "read-only", "");
	assert_refused(weir_handle_insert_keys(h, weir_keys_iov(&key, 1), &which), -EROFS,
	               "read-only", "");
	assert_refused(weir_handle_insert_keys(h, weir_keys_fixed("k", 1, 1), NULL), -EROFS,
	               "read-only", "");
}

static void test_only_an_error_of_the_current_filter_counts(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01), *mapped;
	(void)state;
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	for (uint64_t seed = 0; seed < 2; seed++) {
		assert_ok(weir_load(&mapped, weir_location_map(path, WEIR_MAP_READ), NULL));
		struct weir_handle *h = any_seed(mapped);
		struct weir_reload *r = begun(h, seed);
		expect_read_only(h); /* the current filter is read-only */
		assert_ok(weir_reload_commit(r));
		/* The previous filter is read-only. The insert succeeds, and a rollback is no
		 * longer possible. */
		assert_true(stats_of(h).previous_kept);
		assert_int_equal(weir_handle_insert(h, "k", 1), WEIR_NEW);
		assert_true(!stats_of(h).previous_kept && stats_of(h).previous_void);
		assert_refused(weir_handle_rollback(h), -ENOENT, "void", "drop_previous");
		assert_ok(weir_handle_drop_previous(h));
		assert_int_equal(weir_handle_insert(h, "k", 1), WEIR_SEEN);
		assert_ok(weir_handle_destroy(h));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_means_new_to_the_current_filter),
		cmocka_unit_test(test_only_an_error_of_the_current_filter_counts),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
