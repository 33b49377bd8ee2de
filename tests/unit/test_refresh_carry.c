/* SPDX-License-Identifier: MIT
 * Refresh with carry. The gate checks the filter that would be published, which includes the keys
 * of the current filter. A refusal leaves the current filter unchanged. The gate checks the same
 * file again when another filter is current. */
#include <sys/uio.h>
#include "../folder.h"
#include "../handles.h"

enum { KEYS = 10000 }; /* the capacity of a filter */

static struct weir_handle *h;
static struct weir_gate gate;
static struct weir_refresh_options options;

static int setup(void **state)
{
	(void)folder_setup(state);
	h = open_handle(flavors, KEYS);
	gate = (struct weir_gate)WEIR_GATE_INIT;
	options = (struct weir_refresh_options)WEIR_REFRESH_OPTIONS_INIT;
	options.carry = true;
	options.gate = &gate;
	return 0;
}

static int teardown(void **state)
{
	close_handle(flavors, h);
	(void)folder_teardown(state);
	return 0;
}

/* Save an image of the keys @from to @to - 1 and of the string @word. */
static void save_of(uint64_t capacity, uint64_t from, uint64_t to, const char *word)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, capacity, 0.01);
	for (uint64_t i = from; i < to; i++)
		assert_ok(weir_insert_hash(f, test_key(i)));
	assert_ok(weir_insert(f, word, strlen(word)));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
}

static void save(uint64_t from, uint64_t to)
{
	save_of(KEYS, from, to, "in the image");
}

static int refresh(void)
{
	return weir_handle_refresh(h, path, &options);
}

static bool has(const char *word)
{
	return weir_handle_contains(h, word, strlen(word));
}

/* Asserts that the gate refuses the file once, with @a and @b in the error message. The current
 * filter stays unchanged and keeps answering. */
static void refuses(const char *a, const char *b)
{
	const double fill = figures_of(h).fill;
	struct weir_handle_stats before = stats_of(h);
	assert_refused(refresh(), -ECANCELED, "the gate refused", a);
	assert_non_null(strstr(weir_error_detail(), b));
	assert_one_refused_since(h, &before);
	assert_true(figures_of(h).fill == fill);
	assert_false(has("in the image"));
	assert_int_equal(refresh(), 0);
	assert_int_equal(stats_of(h).refused, before.refused + 1);
	assert_ok(weir_handle_insert(h, "serving", 7));
	assert_true(has("serving"));
}

static void passes(void)
{
	struct weir_handle_stats before = stats_of(h);
	assert_int_equal(refresh(), 1);
	assert_int_equal(stats_of(h).generation, before.generation + 1);
	assert_int_equal(stats_of(h).refused, before.refused);
	assert_true(has("in the image"));
	assert_int_equal(refresh(), 0);
}

/* The current filter and the image are each within the limit, but the merged filter exceeds it. */
static void assert_merge_exceeds(double *limit, double at, const char *a, const char *b)
{
	insert_into(h, 0, KEYS);
	save(KEYS, 2 * KEYS);
	*limit = at;
	refuses(a, b);
	assert_int_equal(missing_in(h, 0, KEYS), 0);
}

static void test_max_fp_rate_limits_the_merged_filter(void **state)
{
	(void)state;
	assert_merge_exceeds(&gate.max_fp_rate, 0.02, "absent keys", "max_fp_rate is 0.020000");
	gate.max_fp_rate = 0.2; /* the merged filter matches 11 % of absent keys */
	save(KEYS, 2 * KEYS);
	passes();
	assert_int_equal(missing_in(h, 0, 2 * KEYS), 0);
}

static void test_max_fill_limits_the_merged_filter(void **state)
{
	(void)state;
	assert_merge_exceeds(&gate.max_fill, 0.5, "fill 0.6", "max_fill is 0.5000");
}

static void test_must_miss_checks_the_merged_filter(void **state)
{
	struct iovec miss = { "in the current one", 18 };
	(void)state;
	gate.must_miss = &miss;
	gate.must_misses = 1;
	save(0, 100);
	assert_ok(weir_handle_insert(h, miss.iov_base, miss.iov_len));
	refuses("key 0 of must_miss, \"in the current one\"", "is in the next filter");
}

static void test_must_hit_and_min_keys_check_the_merged_filter(void **state)
{
	struct iovec hit = { "in the current one", 18 };
	(void)state;
	gate.must_hit = &hit;
	gate.must_hits = 1;
	gate.min_keys = 5000;
	insert_into(h, 0, 5000);
	save(5000, 6000);
	refuses("must_hit", "in the current one");
	assert_ok(weir_handle_insert(h, hit.iov_base, hit.iov_len));
	save(5000, 6000);
	passes();
	assert_int_equal(missing_in(h, 0, 6000), 0);
}

/* Every image adds keys. The rate rises up to the limit, but never exceeds the limit. */
static void test_repeated_refreshes_do_not_drift_upwards(void **state)
{
	unsigned taken = 0, refused = 0;
	(void)state;
	gate.max_fp_rate = 0.018;
	for (uint64_t i = 0; i < 20; i++) {
		save(i * 1500, (i + 1) * 1500);
		int answer = refresh();
		taken += answer == 1;
		refused += answer == -ECANCELED;
		assert_true(figures_of(h).fp_rate_estimated <= gate.max_fp_rate);
	}
	assert_int_equal(taken + refused, 20);
	assert_int_equal(taken, 7);
	assert_int_equal(missing_in(h, 0, taken * 1500), 0);
}

static unsigned times_checked;

static int count(const struct weir_filter *next, void *context)
{
	(void)context;
	assert_true(weir_contains(next, "in the image", 12));
	assert_true(weir_contains(next, "in the current one", 18));
	times_checked++;
	return weir_contains(next, "unwanted", 8);
}

static void reload_with(const char *word)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	o.keep_previous = true;
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_ok(weir_reload_insert(r, word, strlen(word)));
	assert_ok(weir_reload_commit(r));
}

/* While the current filter stays, the handle remembers the refusal and does not read the file. */
static void test_a_file_is_checked_again_with_another_current_filter(void **state)
{
	(void)state;
	gate.check = count;
	times_checked = 0;
	assert_ok(weir_handle_insert(h, "unwanted", 8));
	assert_ok(weir_handle_insert(h, "in the current one", 18));
	save(0, 100);
	refuses("check answered 1", "");
	for (int i = 0; i < 5; i++)
		assert_int_equal(refresh(), 0);
	assert_int_equal(times_checked, 1);
	reload_with("in the current one");
	options.keep_previous = true;
	passes(); /* a refresh of the same file, with a new current filter */
	assert_int_equal(times_checked, 2);
	assert_ok(weir_handle_drop_previous(h)); /* the current filter stays */
	assert_int_equal(refresh(), 0);
}

static void test_a_file_is_checked_again_after_a_rollback(void **state)
{
	(void)state;
	gate.check = count;
	times_checked = 0;
	assert_ok(weir_handle_insert(h, "in the current one", 18));
	reload_with("unwanted");
	assert_ok(weir_handle_insert(h, "in the current one", 18));
	save(0, 100);
	refuses("check answered 1", "");
	assert_ok(weir_handle_rollback(h));
	passes();
	assert_int_equal(times_checked, 2);
}

/* The file is refused before the gate runs, because of the current filter's shape. */
static void test_a_file_of_another_shape_is_checked_again(void **state)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_reload *r;
	(void)state;
	save_of(2 * KEYS, 0, 100, "in the image");
	assert_refused(refresh(), -EINVAL, "cannot carry inserts over: the next filter has",
	               "build both with the same capacity (weir build -n), ");
	assert_int_equal(refresh(), 0);
	assert_int_equal(stats_of(h).refused, 1);
	p.capacity = 2 * KEYS, p.fp_rate = 0.01;
	o.params = &p;
	assert_ok(weir_reload_begin(&r, h, &o));
	assert_ok(weir_reload_commit(r));
	passes();
}

static void test_other_kinds_seeds_and_layouts_cannot_be_carried(void **state)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	struct weir_handle *any = NULL;
	(void)state;
	f = test_filter(WEIR_CLASSIC, KEYS, 0.01);
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_refused(refresh(), -EINVAL, "kind", "classic");
	o.flags = WEIR_HANDLE_ANY_SEED;
	assert_ok(weir_handle_create(&any, test_filter(WEIR_BLOCKED, KEYS, 0.01), &o));
	p.capacity = 2 * KEYS, p.fp_rate = 0.01, p.seed = 77;
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_refused(weir_handle_refresh(any, path, &options), -EINVAL,
	               "cannot carry inserts over", "hashes keys by");
	assert_ok(weir_handle_destroy(any));
	/* the next image has the same number of bytes as h, but another number of words per key */
	p.seed = 42, p.fp_rate = 0.012, p.capacity = 0;
	p.max_bytes = figures_of(h).bytes;
	p.blocked.words_per_key = figures_of(h).shape.field[0] == 1 ? 2 : 1;
	assert_ok(weir_create(&f, &p));
	assert_ok(weir_save(f, weir_location_path(path), NULL));
	weir_destroy(f);
	assert_refused(refresh(), -EINVAL, "differs", "");
}

static void test_without_carry_a_refusal_is_remembered(void **state)
{
	struct iovec hit = { "in no image", 11 };
	(void)state;
	options.carry = false;
	gate.must_hit = &hit;
	gate.must_hits = 1;
	save(0, 100);
	refuses("must_hit", "in no image");
	reload_with("in no image");
	assert_int_equal(refresh(), 0);
	assert_int_equal(stats_of(h).refused, 1);
}

#define fresh(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		fresh(test_max_fp_rate_limits_the_merged_filter),
		fresh(test_max_fill_limits_the_merged_filter),
		fresh(test_must_miss_checks_the_merged_filter),
		fresh(test_must_hit_and_min_keys_check_the_merged_filter),
		fresh(test_repeated_refreshes_do_not_drift_upwards),
		fresh(test_a_file_is_checked_again_with_another_current_filter),
		fresh(test_a_file_is_checked_again_after_a_rollback),
		fresh(test_a_file_of_another_shape_is_checked_again),
		fresh(test_other_kinds_seeds_and_layouts_cannot_be_carried),
		fresh(test_without_carry_a_refusal_is_remembered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
