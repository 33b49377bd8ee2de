/* SPDX-License-Identifier: MIT
 * The growing kind: the plan, how layers are appended, the limit, and copies and merges of
 * filters. */
#include <errno.h>
#include <math.h>
#include "../test.h"

static struct weir_params asked(uint64_t capacity, double fp_rate, uint64_t max_capacity)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	params.kind = WEIR_GROWING;
	params.capacity = capacity;
	params.fp_rate = fp_rate;
	params.growing.max_capacity = max_capacity;
	params.seed = 42;
	return params;
}

static struct weir_filter *make(uint64_t capacity, double fp_rate, uint64_t max_capacity)
{
	struct weir_params params = asked(capacity, fp_rate, max_capacity);
	struct weir_filter *f = NULL;
	assert_ok(weir_create(&f, &params));
	return f;
}

static struct weir_plan plan_of(const struct weir_params *params)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	assert_ok(weir_plan_make(params, &plan));
	return plan;
}

static struct weir_stats exact(const struct weir_filter *f)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_EXACT, &stats));
	return stats;
}

/* Insert the keys @first to @end - 1 and assert that each is found.
 * Return: the result of the last insert. */
static int insert_range(struct weir_filter *f, uint64_t first, uint64_t end)
{
	int answer = 0;
	for (uint64_t i = first; answer >= 0 && i < end; i++) {
		answer = weir_insert_u64(f, test_key(i));
		assert_true(answer < 0 || weir_contains_u64(f, test_key(i)));
	}
	return answer;
}

static void assert_has(const struct weir_filter *f, uint64_t first, uint64_t end)
{
	for (uint64_t i = first; i < end; i++)
		assert_true(weir_contains_u64(f, test_key(i)));
}

static double rate_of(const struct weir_filter *f, uint64_t first, uint64_t n)
{
	uint64_t found = 0;
	for (uint64_t i = first; i < first + n; i++)
		found += weir_contains_u64(f, test_key(i));
	return (double)found / (double)n;
}

/* ---- the plan ---- */

static void the_plan_states_first_and_largest_size(void **state)
{
	struct weir_params params = asked(1000000, 0.01, 0);
	struct weir_plan plan = plan_of(&params);
	(void)state;
	assert_int_equal(test_number(&plan.shape, "layers"), 8);
	assert_true(plan.growing.max_capacity == UINT64_C(21845) * 1000000);
	assert_int_equal(plan.capacity, 1000000);
	/* Each layer has the bits per key of a blocked filter at a rate of 0.00125. Just after the
	 * first append, the layers have capacity for five times the keys that they have. */
	assert_true(plan.growing.full_bits_per_key > 15 && plan.growing.full_bits_per_key < 15.4);
	assert_true(plan.growing.worst_bits_per_key > 75 && plan.growing.worst_bits_per_key < 78);
	assert_true(plan.growing.late_bits_per_key > 60 && plan.growing.late_bits_per_key < 62);
	assert_true(plan.fp_rate <= 0.01 && plan.fp_rate > 0.0085);
	params.growing.max_capacity = 100000000;
	plan = plan_of(&params);
	assert_int_equal(test_number(&plan.shape, "layers"), 5);
	assert_true(plan.growing.max_capacity == 100000000);
	assert_true((double)plan.growing.full_bytes * 8 / 1e8 == plan.growing.full_bits_per_key);
	params.growing.max_capacity = params.capacity;
	plan = plan_of(&params);
	assert_int_equal(test_number(&plan.shape, "layers"), 1);
	assert_true(plan.growing.full_bytes == plan.bytes);
}

static void any_two_of_capacity_rate_and_bytes_give_the_third(void **state)
{
	struct weir_params params = asked(50000, 0.01, 0);
	struct weir_plan plan = plan_of(&params), again;
	(void)state;
	params.max_bytes = plan.bytes;
	params.fp_rate = 0;
	again = plan_of(&params);
	assert_true(again.bytes == plan.bytes && again.fp_rate <= 0.01 && again.fp_rate > 0.007);
	for (uint64_t most = 0; most <= 3000000; most += 3000000) {
		params.fp_rate = 0.01;
		params.capacity = 0;
		params.growing.max_capacity = most;
		again = plan_of(&params);
		assert_true(again.capacity >= 49000 && again.bytes <= plan.bytes);
		assert_true(!most || again.growing.max_capacity == most);
	}
	params.growing.max_capacity = 1000; /* fewer keys than fit in max_bytes */
	assert_int_equal(plan_of(&params).capacity, 1000);
}

static void bad_parameters_are_refused(void **state)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_params params = asked(1000, 0.01, 999);
	(void)state;
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "max_capacity 999", "1000");
	params = asked(1000, 0.01, 21845001);
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "max_capacity 21845001",
	               "21845000");
	params = asked(1000, 0.01, (UINT64_C(1) << 48) + 1);
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "max_capacity 281474976710657",
	               "2^48");
	params = asked(1000, 2e-9, 0);
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "fp_rate 2e-09", "8e-09");
	params.growing.max_capacity = 1000; /* with a single layer, the filter can have this rate */
	assert_ok(weir_plan_make(&params, &plan));
	params = asked(1000, 0, 0);
	params.max_bytes = 320; /* 2.56 bits per key are too few for the rate of any layer */
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "max_bytes 320", "layers");
	params = asked(0, 0.01, 21845001);
	params.max_bytes = 64;
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "max_capacity 21845001",
	               "capacity");
	params = asked(1000, 0.01, 0);
	params.growing.words_per_key = 3;
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "words_per_key 3", "1, 2, 4 or 8");
	params = asked(1000, 0.01, 2000);
	params.kind = WEIR_BLOCKED;
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "max_capacity 2000", "blocked");
}

/* ---- growing ---- */

static void layers_are_appended_and_the_rate_holds(void **state)
{
	enum { KEYS = 400000, ABSENT = 200000 };
	struct weir_filter *f = make(1000, 0.02, 341 * 1000 + 59000);
	uint64_t bytes = 0, steps = 0;
	(void)state;
	for (uint64_t n = 0; n < KEYS; n += 1000) {
		assert_ok(insert_range(f, n, n + 1000));
		steps += exact(f).bytes != bytes;
		bytes = exact(f).bytes;
	}
	/* After 1000 keys, layer 0 is full and the filter has a layer of 4000 keys. Layers of
	 * 16000, 64000 and 256000 keys follow. The last layer takes the other 59000 keys. */
	assert_int_equal(steps, 5);
	assert_has(f, 0, KEYS);
	/* apart from chance, the rate is at most the requested rate, and at least 70 % of it */
	double rate = rate_of(f, KEYS, ABSENT), error = 4 * sqrt(0.02 / ABSENT);
	assert_true(rate < 0.02 + error && rate > 0.014);
	struct weir_stats stats = exact(f);
	assert_true(fabs(stats.fp_rate_estimated - rate) < error);
	assert_true(fabs(stats.keys_estimated - KEYS) < 0.04 * KEYS && !stats.saturated);
	assert_int_equal(stats.capacity, 1000);
	assert_int_equal(stats.max_capacity, 400000);
	assert_int_equal(weir_insert_u64(f, test_key(5)), WEIR_SEEN);
	weir_destroy(f);
}

static void keys_beyond_max_capacity_are_refused(void **state)
{
	struct weir_filter *f = make(10, 0.01, 90);
	uint64_t n = 0, fresh = 0;
	int answer = 0;
	(void)state;
	for (; answer >= 0; n++) {
		answer = weir_insert_u64(f, test_key(n));
		fresh += answer == WEIR_NEW;
	}
	assert_refused(answer, -ENOSPC, "max_capacity 90", "layers");
	assert_int_equal(fresh, 90); /* small layers count every key exactly */
	assert_has(f, 0, n - 1);
	assert_false(weir_contains_u64(f, test_key(n - 1)));
	assert_int_equal(weir_insert_u64(f, test_key(3)), WEIR_SEEN); /* already in the filter */
	uint64_t hashes[8] = { weir_hash(f, &(uint64_t){ test_key(3) }, 8) };
	for (unsigned i = 1; i < 8; i++)
		hashes[i] = weir_hash(f, &(uint64_t){ test_key(n + i) }, 8);
	assert_refused(weir_insert_keys(f, weir_keys_hashes(hashes, 8), NULL), -ENOSPC,
	               "max_capacity 90", "");
	assert_ok(weir_grow_ahead(f));
	weir_destroy(f);
}

/* Batches append layers as single inserts do, and every inserted key is found. */
static void batches_append_layers(void **state)
{
	enum { KEYS = 100000 };
	struct weir_filter *f = make(500, 0.01, 0);
	uint64_t *hashes = malloc(8 * KEYS), *bitmap = malloc(8 * WEIR_BITMAP_WORDS(KEYS));
	(void)state;
	for (uint64_t i = 0; i < KEYS; i++)
		hashes[i] = weir_hash(f, &(uint64_t){ test_key(i) }, 8);
	int64_t fresh = 0;
	for (uint64_t i = 0; i < KEYS; i += 1000)
		fresh += weir_insert_keys(f, weir_keys_hashes(hashes + i, 1000), bitmap);
	assert_true(fresh > KEYS - KEYS / 50 && fresh <= KEYS);
	assert_int_equal(weir_contains_keys(f, weir_keys_hashes(hashes, KEYS), bitmap), KEYS);
	assert_int_equal(bitmap[KEYS / 64 - 1], UINT64_MAX);
	assert_int_equal(weir_insert_keys(f, weir_keys_hashes(hashes, KEYS), bitmap), 0);
	assert_ok(weir_fill_keys(f, weir_keys_hashes(hashes, KEYS)));
	assert_true(exact(f).bytes > 100000 && rate_of(f, KEYS, 100000) < 0.012);
	free(hashes);
	free(bitmap);
	weir_destroy(f);
}

static void grow_ahead_allocates_the_next_layer(void **state)
{
	struct weir_filter *f = make(100, 0.01, 0), *other = test_filter(WEIR_BLOCKED, 100, 0.01);
	uint64_t bytes = exact(f).bytes;
	(void)state;
	assert_ok(weir_grow_ahead(f));
	assert_ok(weir_grow_ahead(f));
	assert_true(exact(f).bytes == bytes); /* the new layer is not in use yet */
	assert_ok(insert_range(f, 0, 300));
	assert_true(exact(f).bytes > 4 * bytes);
	assert_refused(weir_grow_ahead(other), -ENOTSUP, "blocked", "grow");
	weir_destroy(f);
	weir_destroy(other);
}

/* ---- copies, merges, parameters and reloads ---- */

static void a_copy_grows_as_its_source(void **state)
{
	struct weir_filter *f = make(100, 0.01, 5000), *copy = NULL;
	(void)state;
	assert_ok(insert_range(f, 0, 2000));
	assert_ok(weir_clone(&copy, f));
	assert_true(exact(f).fill == exact(copy).fill && exact(f).bytes == exact(copy).bytes);
	assert_has(copy, 0, 2000);
	for (uint64_t i = 2000; i < 6000; i++) {
		int answer = weir_insert_u64(f, test_key(i));
		assert_int_equal(answer, weir_insert_u64(copy, test_key(i)));
	}
	assert_true(exact(f).fill == exact(copy).fill && exact(f).bytes == exact(copy).bytes);
	weir_destroy(f);
	weir_destroy(copy);
}

static void a_merge_has_the_keys_of_both(void **state)
{
	struct weir_filter *a = make(1000, 0.01, 21000), *b = make(1000, 0.01, 21000), *c;
	(void)state;
	assert_ok(insert_range(a, 0, 400));
	assert_ok(insert_range(b, 300, 900));
	assert_ok(weir_merge(a, b));
	assert_has(a, 0, 900);
	assert_ok(weir_merge(a, a));
	assert_ok(insert_range(b, 900, 9000)); /* three layers */
	assert_ok(weir_clone(&c, b));
	assert_ok(weir_merge(c, b)); /* duplicates add nothing */
	assert_true(exact(c).fill == exact(b).fill);
	weir_destroy(c);
	c = make(1000, 0.01, 21000);
	assert_ok(weir_merge(c, b)); /* into an empty filter with fewer layers */
	assert_has(c, 300, 9000);
	assert_true(exact(c).bytes == exact(b).bytes);
	assert_ok(insert_range(c, 20000, 25000));
	/* layer 0 would get 1300 keys */
	assert_refused(weir_merge(a, b), -ENOSPC, "layer 0", "1000");
	assert_has(a, 0, 900);
	weir_destroy(c);
	c = make(1000, 0.010001, 21000);
	assert_refused(weir_merge(c, b), -EINVAL, "fp_rate", "0.010001");
	weir_destroy(c);
	c = make(1000, 0.01, 20000);
	assert_refused(weir_merge(c, b), -EINVAL, "max_capacity", "20000");
	weir_destroy(a);
	weir_destroy(b);
	weir_destroy(c);
}

static void merged_duplicates_take_no_capacity(void **state)
{
	struct weir_filter *a = make(1000, 0.01, 21000), *b = NULL;
	(void)state;
	assert_ok(insert_range(a, 0, 10000));
	assert_ok(weir_clone(&b, a));
	for (unsigned i = 0; i < 9; i++) {
		assert_ok(weir_merge(a, b));
		assert_ok(weir_merge(a, a));
	}
	assert_ok(insert_range(a, 10000, 20800));
	assert_int_equal(insert_range(a, 20800, 22000), -ENOSPC);
	weir_destroy(a);
	weir_destroy(b);
}

static void parameters_of_a_filter_create_its_like(void **state)
{
	struct weir_filter *f = make(1000, 0.01, 21000), *like = NULL, *folded = NULL;
	struct weir_params params = WEIR_PARAMS_INIT;
	(void)state;
	assert_ok(insert_range(f, 0, 10000));
	assert_ok(weir_params_of(f, &params));
	assert_int_equal(params.growing.max_capacity, 21000);
	assert_ok(weir_create(&like, &params));
	assert_ok(weir_merge(like, f));
	assert_has(like, 0, 10000);
	assert_refused(weir_fold(&folded, f, 2), -ENOTSUP, "growing", "fold");
	params.struct_size = offsetof(struct weir_params, growing.max_capacity);
	assert_refused(weir_params_of(f, &params), -EINVAL, "max_capacity", "struct_size");
	weir_destroy(f);
	weir_destroy(like);
}

static void a_reload_replaces_a_nearly_full_filter(void **state)
{
	struct weir_reload_options options = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_params larger = asked(1000, 0.01, 100000);
	struct weir_handle *h = NULL;
	struct weir_reload *r = NULL;
	(void)state;
	assert_ok(weir_handle_create(&h, make(100, 0.01, 1000), NULL));
	for (uint64_t i = 0; i < 900; i++)
		assert_ok(weir_handle_insert(h, &(uint64_t){ test_key(i) }, 8));
	options.params = &larger;
	assert_ok(weir_reload_begin(&r, h, &options));
	for (uint64_t i = 0; i < 900; i++)
		assert_ok(weir_reload_insert(r, &(uint64_t){ test_key(i) }, 8));
	assert_ok(weir_reload_commit(r));
	for (uint64_t i = 900; i < 5000; i++)
		assert_ok(weir_handle_insert(h, &(uint64_t){ test_key(i) }, 8));
	for (uint64_t i = 0; i < 5000; i++)
		assert_true(weir_handle_contains(h, &(uint64_t){ test_key(i) }, 8));
	/* reload by copying, into a filter with the same parameters */
	options.params = NULL;
	assert_ok(weir_reload_begin(&r, h, &options));
	assert_ok(weir_handle_insert(h, &(uint64_t){ test_key(5000) }, 8));
	assert_ok(weir_reload_copy(r, WEIR_ALL_SETS));
	assert_ok(weir_reload_commit(r));
	for (uint64_t i = 0; i < 5001; i++)
		assert_true(weir_handle_contains(h, &(uint64_t){ test_key(i) }, 8));
	weir_handle_destroy(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_plan_states_first_and_largest_size),
		cmocka_unit_test(any_two_of_capacity_rate_and_bytes_give_the_third),
		cmocka_unit_test(bad_parameters_are_refused),
		cmocka_unit_test(layers_are_appended_and_the_rate_holds),
		cmocka_unit_test(keys_beyond_max_capacity_are_refused),
		cmocka_unit_test(batches_append_layers),
		cmocka_unit_test(grow_ahead_allocates_the_next_layer),
		cmocka_unit_test(a_copy_grows_as_its_source),
		cmocka_unit_test(a_merge_has_the_keys_of_both),
		cmocka_unit_test(merged_duplicates_take_no_capacity),
		cmocka_unit_test(parameters_of_a_filter_create_its_like),
		cmocka_unit_test(a_reload_replaces_a_nearly_full_filter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
