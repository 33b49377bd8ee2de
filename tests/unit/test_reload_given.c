/* SPDX-License-Identifier: MIT
 * A reload that begins with a filter of the caller: the keys that the filter gets before the
 * commit, the owner of the filter after a failure, and errors. */
#include <sys/uio.h>
#include "../folder.h"
#include "../handles.h"

static struct weir_reload *untouched;

/* Return: a filter that was loaded from an image of the keys @from to @to - 1, inserted as
 * hashes. */
static struct weir_filter *loaded(uint32_t kind, uint64_t capacity, uint64_t from, uint64_t to)
{
	struct weir_filter *f = test_filter(kind, capacity, 0.01), *copy;
	for (uint64_t i = from; i < to; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_ok(weir_load(&copy, weir_location_path(path), NULL));
	return copy;
}

static int begin_with(struct weir_reload **r, struct weir_handle *h, struct weir_filter *next,
                      const struct weir_reload_options *options)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	if (options)
		o = *options;
	o.next = next;
	return weir_reload_begin(r, h, &o);
}

static void test_a_given_filter_is_completed_and_published(void **state)
{
	(void)state;
	FOR_EACH_FLAVOR(flavor) {
		struct weir_handle *h = open_handle(flavor, 10000);
		struct weir_filter *next = loaded(WEIR_BLOCKED, 20000, 0, 1000);
		struct weir_reload *r = NULL;
		insert_into(h, 1000, 2000);
		assert_ok(begin_with(&r, h, next, NULL));
		assert_ptr_equal(weir_reload_next(r), next);
		assert_true(stats_of(h).reloading);
		insert_into(h, 2000, 3000); /* into the current and the next filter */
		for (uint64_t i = 2000; i < 3000; i++)
			assert_true(weir_contains_hash(next, test_key(i)));
		for (uint64_t i = 3000; i < 4000; i++)
			assert_ok(weir_reload_insert_hash(r, test_key(i)));
		assert_int_equal(missing_in(h, 1000, 3000), 0);
		assert_true(missing_in(h, 0, 1000) > 900);
		assert_ok(weir_reload_commit(r));
		assert_int_equal(missing_in(h, 0, 1000), 0);
		assert_true(missing_in(h, 1000, 2000) > 900);
		assert_int_equal(missing_in(h, 2000, 4000), 0);
		assert_int_equal(figures_of(h).capacity, 20000);
		assert_int_equal(stats_of(h).swaps, 1);
		close_handle(flavor, h);
	}
}

static void test_a_given_filter_may_get_a_copy(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	(void)state;
	o.keep_previous = true;
	o.pace = 0.9;
	insert_into(h, 0, 1000);
	assert_ok(begin_with(&r, h, loaded(WEIR_BLOCKED, 10000, 1000, 2000), &o));
	assert_ok(weir_reload_copy(r, WEIR_ALL_SETS));
	assert_ok(weir_reload_commit(r));
	assert_int_equal(missing_in(h, 0, 2000), 0);
	insert_into(h, 2000, 2100);
	assert_ok(weir_handle_rollback(h));
	assert_int_equal(missing_in(h, 0, 1000), 0);
	assert_int_equal(missing_in(h, 2000, 2100), 0);
	assert_true(missing_in(h, 1000, 2000) > 900);
	close_handle(flavors, h);
}

/* A reload does not check whether the hashes of a filter from the caller are uniform. The filter
 * may be mapped, and the check would read all of its pages. */
static void test_a_given_filter_may_have_uneven_hashes(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_filter *next = test_filter(WEIR_BLOCKED, 10000, 0.01);
	struct weir_stats s = WEIR_STATS_INIT;
	struct weir_reload *r = NULL;
	(void)state;
	for (uint64_t i = 1; i <= 10000; i++)
		assert_ok(weir_insert_hash(next, i));
	assert_ok(weir_measure(next, WEIR_EXACT, &s));
	assert_int_equal(s.hashes_uneven, WEIR_UNEVEN_YES);
	assert_ok(begin_with(&r, h, next, NULL));
	assert_ok(weir_reload_commit(r));
	assert_ptr_equal(weir_handle_get(h), next);
	assert_int_equal(stats_of(h).refused, 0);
	close_handle(flavors, h);
}

static void test_an_aborted_or_refused_filter_is_freed(void **state)
{
	struct weir_handle *h = open_handle(flavors, 10000);
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_gate gate = WEIR_GATE_INIT;
	struct weir_reload *r = NULL;
	(void)state;
	insert_into(h, 0, 1000);
	assert_ok(begin_with(&r, h, loaded(WEIR_BLOCKED, 1000, 0, 10), NULL));
	weir_reload_abort(r); /* frees the caller's filter */
	gate.min_keys = 500;
	o.gate = &gate;
	assert_ok(begin_with(&r, h, loaded(WEIR_BLOCKED, 1000, 0, 10), &o));
	assert_refused(weir_reload_commit(r), -ECANCELED, "min_keys", "500");
	assert_int_equal(missing_in(h, 0, 1000), 0);
	assert_int_equal(stats_of(h).generation, 1);
	assert_int_equal(stats_of(h).refused, 1);
	close_handle(flavors, h);
}

/* Asserts that the call fails, begins no reload, and leaves the filter to the caller. */
static void refused(struct weir_handle *h, struct weir_filter *next,
                    const struct weir_reload_options *o, int err, const char *a, const char *b)
{
	assert_refused(begin_with(&untouched, h, next, o), err, a, b);
	assert_null(untouched);
	assert_false(stats_of(h).reloading);
	assert_int_equal(stats_of(h).bytes, figures_of(h).bytes);
}

static void test_wrong_options_are_refused(void **state)
{
	struct weir_handle *h = open_handle(flavors, 1000);
	struct weir_filter *next = loaded(WEIR_BLOCKED, 1000, 0, 10);
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_builder_options build = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	(void)state;
	assert_refused(begin_with(NULL, h, next, NULL), -EINVAL, "out is NULL",
	               "weir_reload_begin");
	assert_refused(begin_with(&untouched, NULL, next, NULL), -EINVAL,
	               "the handle is NULL", "weir_reload_begin");
	o.params = &p;
	refused(h, next, &o, -EINVAL, "options.params", "made already");
	o.params = NULL;
	o.build = &build;
	refused(h, next, &o, -EINVAL, "options.build", "made already");
	o.build = NULL;
	o.max_bytes = stats_of(h).bytes * 2 - 1;
	refused(h, next, &o, -EFBIG, "max_bytes", "needs");
	o.max_bytes++;
	struct weir_reload *r = NULL;
	assert_ok(begin_with(&r, h, next, &o));
	assert_refused(begin_with(&untouched, h, next, NULL), -EBUSY,
	               "weir_reload_begin", "");
	weir_reload_abort(r);
	close_handle(flavors, h);
}

static void test_wrong_filters_are_refused(void **state)
{
	struct weir_handle *h = open_handle(flavors, 1000);
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *next, *current;
	(void)state;
	flavors->rcu->read_lock();
	current = (struct weir_filter *)(uintptr_t)weir_handle_get(h);
	flavors->rcu->read_unlock();
	refused(h, current, NULL, -EINVAL, "the current filter", "load a filter of its own");
	p.capacity = 1000;
	p.fp_rate = 0.01;
	p.seed = 4711;
	assert_ok(weir_create(&next, &p));
	refused(h, next, NULL, -EINVAL, "the next filter", "hash");
	weir_destroy(next);
	assert_ok(weir_params_of(current, &p));
	p.text.steps = WEIR_TEXT_LOWERCASE;
	assert_ok(weir_create(&next, &p));
	refused(h, next, NULL, -EINVAL, "the next filter", "lower");
	weir_destroy(next);
	weir_destroy(loaded(WEIR_BLOCKED, 1000, 0, 10));
	assert_ok(weir_load(&next, weir_location_map(path, WEIR_MAP_READ), NULL));
	refused(h, next, NULL, -EROFS, "mapped read-only", "takes inserts");
	weir_destroy(next);
	close_handle(flavors, h);
}

static struct weir_filter *fuse_of(uint64_t from, uint64_t to)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	uint64_t hashes[1000];
	for (uint64_t i = from; i < to; i++)
		hashes[i - from] = test_key(i);
	p.kind = WEIR_FUSE;
	p.fp_rate = 0.01;
	p.capacity = to - from;
	p.seed = 1;
	assert_ok(weir_build(&f, &p, weir_keys_hashes(hashes, to - from), NULL));
	return f;
}

static void test_a_built_filter_needs_a_handle_without_inserts(void **state)
{
	struct weir_handle *h;
	struct weir_reload *r = NULL;
	(void)state;
	assert_ok(weir_handle_create(&h, fuse_of(0, 1000), NULL));
	assert_ok(begin_with(&r, h, fuse_of(1000, 2000), NULL));
	assert_refused(weir_handle_insert_hash(h, 1), -ENOTSUP, "", "");
	assert_ok(weir_reload_commit(r));
	assert_int_equal(missing_in(h, 1000, 2000), 0);
	assert_ok(weir_handle_destroy(h));
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f, *next = fuse_of(0, 1000);
	p.capacity = 1000;
	p.fp_rate = 0.01;
	p.seed = 1;
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_handle_create(&h, f, NULL));
	refused(h, next, NULL, -ENOTSUP, "takes no inserts", "give a filter of kind");
	weir_destroy(next);
	assert_ok(weir_handle_destroy(h));
}

/* If the kept inserts do not fit in the caller's filter, the reload fails. The caller keeps the
 * filter, and the handle keeps the inserts for another filter. */
static void test_the_first_filter_gets_the_kept_inserts(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h;
	struct weir_filter *small = test_filter(WEIR_CUCKOO, 50, 0.01);
	struct weir_reload *r = NULL;
	char key[32];
	(void)state;
	o.flags = WEIR_HANDLE_ANY_SEED;
	o.absent = WEIR_ABSENT_YES;
	o.keep_inserts = 1 << 20;
	assert_ok(weir_handle_create(&h, NULL, &o));
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof key, "kept %d", i);
		assert_ok(weir_handle_insert(h, key, strlen(key)));
	}
	assert_refused(begin_with(&untouched, h, small, NULL), -ENOSPC, "", "");
	assert_null(untouched);
	assert_false(stats_of(h).reloading);
	weir_destroy(small);
	assert_ok(begin_with(&r, h, test_filter(WEIR_CUCKOO, 2000, 0.01), NULL));
	assert_ok(weir_reload_commit(r));
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof key, "kept %d", i);
		assert_true(weir_handle_contains(h, key, strlen(key)));
	}
	assert_false(stats_of(h).absent);
	assert_ok(weir_handle_destroy(h));
}

static struct weir_filter *mapped(uint64_t from, uint64_t to)
{
	struct weir_filter *f = loaded(WEIR_BLOCKED, 1000, from, to);
	weir_destroy(f);
	assert_ok(weir_load(&f, weir_location_map(path, WEIR_MAP_READ), NULL));
	return f;
}

static void test_read_only_after_read_only(void **state)
{
	struct weir_handle *h = NULL;
	struct weir_reload *r = NULL;
	(void)state;
	assert_ok(weir_handle_create(&h, mapped(0, 100), NULL));
	assert_ok(begin_with(&r, h, mapped(100, 200), NULL));
	assert_ok(weir_reload_commit(r));
	assert_int_equal(missing_in(h, 100, 200), 0);
	assert_ok(weir_handle_destroy(h));
}

static void test_the_previous_filter_cannot_be_given(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_handle *h = open_handle(flavors, 1000);
	struct weir_filter *first = (struct weir_filter *)(uintptr_t)weir_handle_get(h);
	struct weir_reload *r = NULL;
	(void)state;
	o.keep_previous = true;
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_ok(weir_reload_commit(r));
	assert_refused(begin_with(&r, h, first, NULL), -EINVAL, "the previous filter",
	               "a filter of its own");
	assert_ok(weir_handle_rollback(h));
	assert_ptr_equal(weir_handle_get(h), first);
	close_handle(flavors, h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_given_filter_is_completed_and_published),
		cmocka_unit_test(test_a_given_filter_may_get_a_copy),
		cmocka_unit_test(test_a_given_filter_may_have_uneven_hashes),
		cmocka_unit_test(test_an_aborted_or_refused_filter_is_freed),
		cmocka_unit_test(test_wrong_options_are_refused),
		cmocka_unit_test(test_wrong_filters_are_refused),
		cmocka_unit_test(test_a_built_filter_needs_a_handle_without_inserts),
		cmocka_unit_test(test_the_first_filter_gets_the_kept_inserts),
		cmocka_unit_test(test_read_only_after_read_only),
		cmocka_unit_test(test_the_previous_filter_cannot_be_given),
	};
	return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
