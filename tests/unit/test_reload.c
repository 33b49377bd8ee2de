/* SPDX-License-Identifier: MIT
 * Reloads in a single thread: what each function does to the filters, what it returns, and its
 * errors. */
#include <sys/uio.h>
#include "../handles.h"

static struct weir_reload *untouched;

static struct weir_reload *begin(struct weir_handle *h, const struct weir_reload_options *options)
{
	struct weir_reload *r = NULL;
	assert_ok(weir_reload_begin(&r, h, options));
	return r;
}

static bool next_has(const struct weir_reload *r, uint64_t i)
{
	return weir_contains_hash(weir_reload_next(r), test_key(i));
}

static void test_a_reload_replaces_the_keys(void **state)
{
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		insert_into(h, 0, 1000);
		struct weir_reload *r = begin(h, NULL);
		assert_true(stats_of(h).reloading);
		assert_int_equal(stats_of(h).bytes, 2 * figures_of(h).bytes);
		assert_false(next_has(r, 0));
		insert_into(h, 1000, 2000); /* into the current and the next filter */
		assert_int_equal(missing_in(h, 0, 2000), 0);
		for (uint64_t i = 1000; i < 2000; i++)
			assert_true(next_has(r, i));
		assert_int_equal(weir_handle_insert(h, "word", 4), WEIR_NEW);
		assert_int_equal(weir_reload_insert(r, "word", 4), WEIR_SEEN);
		for (uint64_t i = 2000; i < 3000; i++)
			assert_ok(weir_reload_insert_hash(r, test_key(i)));
		/* the loader's keys are not published yet */
		assert_true(missing_in(h, 2000, 3000) > 900);
		assert_ok(weir_reload_commit(r));
		assert_int_equal(missing_in(h, 1000, 3000), 0);
		/* keys that the source lacks are no longer in the set */
		assert_true(missing_in(h, 0, 1000) > 900);
		struct weir_handle_stats s = stats_of(h);
		assert_false(s.reloading || s.previous_kept);
		assert_int_equal(s.bytes, figures_of(h).bytes);
		assert_int_equal(s.generation, 2);
		assert_int_equal(s.swaps, 1);
		close_handle(flavor, h);
	}
}

static void test_loaders_may_insert_batches(void **state)
{
	struct weir_handle *h = open_handle(flavors, 1000);
	struct weir_reload *r = begin(h, NULL);
	uint64_t keys[] = { 1, 2, 3 }, hashes[] = { test_key(1), test_key(2) };
	struct iovec vectors[] = { { "a", 1 }, { "bc", 2 } };
	(void)state;
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_hashes(hashes, 2), NULL), 2);
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_iov(vectors, 2), NULL), 2);
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_u64(keys, 3), NULL), 3);
	assert_int_equal(weir_reload_insert_keys(r, weir_keys_u64(keys, 3), NULL), 0);
	assert_ok(weir_reload_commit(r));
	assert_int_equal(weir_handle_contains_keys(h, weir_keys_hashes(hashes, 2), NULL), 2);
	assert_int_equal(weir_handle_contains_keys(h, weir_keys_iov(vectors, 2), NULL), 2);
	assert_int_equal(weir_handle_contains_keys(h, weir_keys_u64(keys, 3), NULL), 3);
	close_handle(flavors, h);
}

static void test_copy_takes_over_the_current_keys(void **state)
{
	struct weir_params larger = WEIR_PARAMS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		insert_into(h, 0, 1000);
		struct weir_reload *r = begin(h, NULL);
		insert_into(h, 1000, 2000);
		assert_ok(weir_reload_copy(r, WEIR_ALL_SETS));
		insert_into(h, 2000, 3000);
		assert_ok(weir_reload_commit(r));
		assert_int_equal(missing_in(h, 0, 3000), 0);
		larger.capacity = 20000;
		larger.fp_rate = 0.01;
		o.params = &larger;
		r = begin(h, &o);
		assert_refused(weir_reload_copy(r, WEIR_ALL_SETS), -EINVAL, "bytes differs",
		               "destination");
		weir_reload_abort(r); /* the failed copy has not ended the reload */
		assert_int_equal(missing_in(h, 0, 3000), 0);
		close_handle(flavor, h);
	}
}

static void test_the_next_filter_may_have_another_layout(void **state)
{
	const struct weir_params params[] = {
		{ .struct_size = sizeof *params, .capacity = 50000, .fp_rate = 0.01 },
		{ .struct_size = sizeof *params, .capacity = 10000, .fp_rate = 0.0001 },
		{ .struct_size = sizeof *params, .kind = WEIR_CLASSIC, .capacity = 10000,
		  .fp_rate = 0.001, .seed = 42 },
		{ .struct_size = sizeof *params, .max_bytes = 1 << 16, .fp_rate = 0.01,
		  .blocked.words_per_key = 1 },
	};
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(params); i++) {
		o.params = params + i;
		struct weir_reload *r = begin(h, &o);
		/* both layouts use the same hash */
		assert_int_equal(weir_handle_insert(h, &i, sizeof i), WEIR_NEW);
		insert_into(h, 100 * i, 100 * i + 100);
		assert_true(weir_contains(weir_reload_next(r), &i, sizeof i));
		assert_ok(weir_reload_commit(r));
		const struct weir_stats s = figures_of(h);
		assert_int_equal(s.shape.kind, params[i].kind);
		assert_true(params[i].capacity == 0 || s.capacity == params[i].capacity);
		assert_true(s.fp_rate == params[i].fp_rate);
		assert_true(weir_handle_contains(h, &i, sizeof i));
		assert_int_equal(missing_in(h, 100 * i, 100 * i + 100), 0);
	}
	close_handle(flavors, h);
}

static void test_wrong_params_are_refused(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	(void)state;
	o.params = &p;
	assert_refused(weir_reload_begin(&untouched, h, &o), -EINVAL, "", "");
	p.capacity = 1000;
	p.fp_rate = 0.01;
	p.seed = 43;
	assert_refused(weir_reload_begin(&untouched, h, &o), -EINVAL, "params.seed", "fingerprint");
	p.seed = 0;
	p.kind = 99;
	assert_refused(weir_reload_begin(&untouched, h, &o), -ENOTSUP, "99", "");
	assert_null(untouched);
	weir_reload_abort(begin(h, NULL)); /* a refused call leaves no reload in progress */
	assert_int_equal(stats_of(h).generation, 1);
	close_handle(flavors, h);
}

static void test_max_bytes_limits_all_filters_together(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params larger = { .struct_size = sizeof larger, .capacity = 40000,
	                              .fp_rate = 0.01 };
	uint64_t each = stats_of(h).bytes;
	(void)state;
	o.max_bytes = 2 * each - 1;
	assert_refused(weir_reload_begin(&untouched, h, &o), -EFBIG, "max_bytes", "held");
	o.max_bytes = each / 2;
	assert_refused(weir_reload_begin(&untouched, h, &o), -EFBIG, "max_bytes", "held");
	o.max_bytes = 2 * each;
	weir_reload_abort(begin(h, &o));
	o.params = &larger;
	assert_refused(weir_reload_begin(&untouched, h, &o), -EFBIG, "max_bytes", "held");
	o.max_bytes = 6 * each;
	o.keep_previous = true;
	assert_ok(weir_reload_commit(begin(h, &o)));
	/* the bytes of the previous filter count towards max_bytes */
	assert_refused(weir_reload_begin(&untouched, h, &o), -EFBIG, "max_bytes", "held");
	assert_ok(weir_handle_drop_previous(h));
	assert_null(untouched);
	close_handle(flavors, h);
}

static void test_an_aborted_reload_changes_nothing(void **state)
{
	(void)state;
	weir_reload_abort(NULL);
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		insert_into(h, 0, 100);
		struct weir_reload *r = begin(h, NULL);
		insert_into(h, 100, 200);
		assert_ok(weir_reload_insert_hash(r, test_key(777)));
		weir_reload_abort(r);
		assert_int_equal(missing_in(h, 0, 200), 0);
		assert_false(weir_handle_contains_hash(h, test_key(777)));
		struct weir_handle_stats s = stats_of(h);
		assert_false(s.reloading);
		assert_int_equal(s.bytes, figures_of(h).bytes);
		assert_int_equal(s.generation, 1);
		assert_int_equal(s.swaps + s.refused, 0);
		assert_ok(weir_reload_commit(begin(h, NULL)));
		close_handle(flavor, h);
	}
}

/* If only the previous filter refuses an insert, the insert succeeds and a rollback is no longer
 * possible. */
static void test_read_only_filters_refuse_inserts(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01), *mapped;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	char *folder = test_folder(), path[4096];
	uint64_t hash = test_key(1);
	struct weir_handle *h;
	(void)state;
	snprintf(path, sizeof path, "%s/set.weir", folder);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_ok(weir_load(&mapped, weir_location_map(path, WEIR_MAP_READ), NULL));
	assert_ok(weir_handle_create(&h, mapped, NULL));
	o.keep_previous = true;
	struct weir_reload *r = begin(h, &o);
	/* the current filter is read-only */
	assert_refused(weir_handle_insert_hash(h, hash), -EROFS, "read-only", "");
	assert_refused(weir_handle_insert_keys(h, weir_keys_hashes(&hash, 1), NULL), -EROFS,
	               "read-only", "");
	assert_ok(weir_reload_commit(r));
	/* the previous filter is read-only */
	assert_int_equal(weir_handle_insert_keys(h, weir_keys_hashes(&hash, 1), NULL), 1);
	assert_refused(weir_handle_rollback(h), -ENOENT, "void", "drop_previous");
	assert_true(weir_handle_contains_hash(h, hash));
	assert_ok(weir_handle_drop_previous(h));
	assert_ok(weir_handle_insert_hash(h, hash));
	assert_ok(weir_handle_destroy(h));
	test_folder_remove(folder);
}

static void test_progress_of_a_reload_is_reported(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_reload *r = begin(h, NULL);
	struct weir_reload_stats p = WEIR_RELOAD_STATS_INIT;
	struct weir_reload_stats older = WEIR_RELOAD_STATS_INIT;
	(void)state;
	assert_ok(weir_reload_measure(r, &p));
	assert_true(p.keys == 0 && p.share == 0 && p.seconds >= 0 && p.seconds < 600);
	for (uint64_t i = 0; i < 5000; i++)
		assert_ok(weir_reload_insert_hash(r, test_key(i)));
	usleep(10000);
	assert_ok(weir_reload_measure(r, &p));
	assert_true(p.keys > 4800 && p.keys < 5200 && p.share > 0.48 && p.share < 0.52 &&
	            p.seconds >= 0.01);
	older.struct_size = offsetof(struct weir_reload_stats, share);
	assert_ok(weir_reload_measure(r, &older));
	assert_true(older.keys == p.keys && older.share == 0);
	older.struct_size = 0;
	assert_refused(weir_reload_measure(r, &older), -EINVAL,
	               "weir_reload_stats.struct_size 0", "_INIT");
	older.struct_size = 1000;
	assert_refused(weir_reload_measure(r, &older), -EINVAL,
	               "weir_reload_stats.struct_size 1000", "_INIT");
	assert_refused(weir_reload_measure(r, NULL), -EINVAL, "weir_reload_stats is NULL",
	               "_INIT");
	weir_reload_abort(r);
	close_handle(flavors, h);
}

static void test_wrong_options_are_refused(void **state)
{
	struct weir_handle *h = open_handle(flavors, 1000);
	struct weir_reload_options older = WEIR_RELOAD_OPTIONS_INIT;
	(void)state;
	assert_refused(weir_reload_begin(NULL, h, NULL), -EINVAL, "out is NULL",
	               "weir_reload_begin");
	assert_refused(weir_reload_begin(&untouched, NULL, NULL), -EINVAL, "the handle is NULL",
	               "weir_reload_begin");
	older.keep_previous = true;
	older.struct_size = 3;
	assert_refused(weir_reload_begin(&untouched, h, &older), -EINVAL,
	               "weir_reload_options.struct_size 3", "_INIT");
	older.struct_size = sizeof older + 8;
	assert_refused(weir_reload_begin(&untouched, h, &older), -EINVAL,
	               "weir_reload_options.struct_size", "_INIT");
	assert_null(untouched);
	/* the caller's header is older and lacks the field keep_previous */
	older.struct_size = offsetof(struct weir_reload_options, keep_previous);
	assert_ok(weir_reload_commit(begin(h, &older)));
	assert_false(stats_of(h).previous_kept);
	close_handle(flavors, h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_reload_replaces_the_keys),
		cmocka_unit_test(test_loaders_may_insert_batches),
		cmocka_unit_test(test_copy_takes_over_the_current_keys),
		cmocka_unit_test(test_the_next_filter_may_have_another_layout),
		cmocka_unit_test(test_wrong_params_are_refused),
		cmocka_unit_test(test_max_bytes_limits_all_filters_together),
		cmocka_unit_test(test_an_aborted_reload_changes_nothing),
		cmocka_unit_test(test_read_only_filters_refuse_inserts),
		cmocka_unit_test(test_progress_of_a_reload_is_reported),
		cmocka_unit_test(test_wrong_options_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
