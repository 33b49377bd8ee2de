/* SPDX-License-Identifier: MIT
 * Statistics that are computed from the bits (keys, rate, fill and saturation) of empty filters
 * up to filters with 1.5 times as many keys as their capacity. */
#include <errno.h>
#include <math.h>
#include "../test.h"

static struct weir_stats exact(const struct weir_filter *f)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_EXACT, &stats));
	return stats;
}

static struct weir_stats sampled(const struct weir_filter *f)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	assert_ok(weir_measure(f, WEIR_SAMPLED, &stats));
	return stats;
}

static void assert_near(double value, double wanted, double share, const char *what)
{
	if (!(fabs(value - wanted) <= share * wanted))
		fail_msg("%s is %g, wanted %g within %g %%", what, value, wanted, 100 * share);
}

/* Classic has a single kernel, which need not use the machine's best instruction set. */
static void the_isa_is_the_kernels(void **state)
{
	struct weir_filter *f = test_filter(WEIR_CLASSIC, 100, 0.01);
	(void)state;
	assert_string_equal(exact(f).isa, "scalar");
	weir_destroy(f);
}

static void an_empty_filter_has_no_keys(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		struct weir_filter *f = test_bound_filter(test_kinds[k], 12345, 0.01);
		struct weir_stats s = exact(f);
		assert_int_equal(s.shape.kind, test_kinds[k]);
		assert_int_equal(s.capacity, 12345);
		assert_true(s.fp_rate == 0.01);
		assert_true(s.fill == 0 && s.fill_max == 0 && s.keys_estimated == 0 &&
		            s.fp_rate_estimated == 0);
		assert_true(s.sampled == 1);
		assert_false(s.saturated);
		assert_int_equal(s.bytes % 64, 0);
		assert_true(s.shards >= 1 && (s.shards & (s.shards - 1)) == 0 &&
		            s.bytes / 64 % s.shards == 0);
		weir_destroy(f);
	}
}

/* Return: the planned rate for the filter's size. If the kind supports only certain rates, the
 * planned rate is below the requested rate. */
static double planned_rate(const struct weir_filter *f)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	assert_ok(weir_params_of(f, &params));
	assert_ok(weir_plan_make(&params, &plan));
	return plan.fp_rate;
}

static double measured_rate(const struct weir_filter *f)
{
	enum { PROBES = 1000000 };
	uint64_t wrong = 0;
	for (uint64_t i = 0; i < PROBES; i++) {
		uint64_t key = test_key(i + (UINT64_C(1) << 40));
		wrong += weir_contains(f, &key, 8);
	}
	return (double)wrong / PROBES;
}

/* Return: false if the filter refused the key. A kind may refuse keys only beyond the capacity. */
static bool put(struct weir_filter *f, uint64_t i, uint64_t capacity)
{
	uint64_t key = test_key(i);
	int answer = weir_insert(f, &key, 8);
	if (answer == -ENOSPC && i >= capacity)
		return false;
	assert_ok(answer);
	return true;
}

static void estimates_at_fill_levels(uint32_t kind, double fp_rate)
{
	enum { CAPACITY = 60000, STEPS = 6 };
	struct weir_filter *f = test_bound_filter(kind, CAPACITY, fp_rate);
	uint64_t keys = 0;
	bool full = !test_takes_inserts(f);
	/* from 25 % to 150 % of the capacity */
	for (unsigned step = 1; step <= STEPS && !full; step++) {
		while (keys < CAPACITY * step / 4 && !full) {
			full = !put(f, keys, CAPACITY);
			keys += !full;
		}
		if (full)
			break;
		struct weir_stats s = exact(f);
		assert_near(s.keys_estimated, (double)keys, 0.02, "keys_estimated");
		if (step >= 3) /* enough false positives for a comparison */
			assert_near(s.fp_rate_estimated, measured_rate(f),
			            s.fp_rate_estimated < 0.005 ? 0.12 : 0.04,
			            "fp_rate_estimated");
		if (step == 4)
			assert_near(s.fp_rate_estimated, planned_rate(f), 0.06,
			            "fp_rate_estimated when full");
		assert_true(s.fill > 0 && s.fill < 1 && s.fill_max >= s.fill && s.fill_max <= 1);
		assert_int_equal(s.saturated, step > 4);
	}
	weir_destroy(f);
}

static void estimates_match_measurements(void **state)
{
	static const double rates[] = { 0.1, 0.01, 0.003 };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++)
		for (size_t r = 0; r < COUNT_OF(rates) && !test_forgets(test_kinds[k]); r++)
			estimates_at_fill_levels(test_kinds[k], rates[r]);
}

static void duplicates_change_nothing(void **state)
{
	(void)state;
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01);
	for (unsigned round = 0; round < 5; round++)
		for (uint64_t i = 0; i < 1000; i++) {
			uint64_t key = test_key(i);
			assert_ok(weir_insert(f, &key, 8));
		}
	assert_false(exact(f).saturated);
	assert_near(exact(f).keys_estimated, 1000, 0.05, "keys_estimated");
	weir_destroy(f);
}

static void a_sample_agrees_with_the_whole(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		enum { CAPACITY = 3000000 };
		struct weir_filter *f = test_bound_filter(test_kinds[k], CAPACITY, 0.01);
		uint64_t *keys = malloc(8 * CAPACITY);
		if (!test_takes_inserts(f)) {
			weir_destroy(f), free(keys);
			continue;
		}
		assert_non_null(keys);
		for (uint64_t i = 0; i < CAPACITY; i++)
			keys[i] = test_key(i);
		assert_ok(weir_insert_keys(f, weir_keys_u64(keys, CAPACITY / 2), NULL));
		struct weir_stats part = sampled(f), whole = exact(f);
		assert_true(whole.sampled == 1);
		assert_true(whole.keys_error == 0 && part.keys_error > 0);
		assert_true(fabs(part.keys_estimated - whole.keys_estimated) <= part.keys_error);
		assert_near(part.keys_error * part.keys_error,
		            9 * part.keys_estimated / part.sampled, 0.05,
		            "the square of what keys of a sample may be off");
		assert_true(part.sampled * (double)part.bytes > 0.9 * (1 << 20) &&
		            part.sampled * (double)part.bytes < 1.1 * (1 << 20));
		assert_near(part.fill, whole.fill, 0.01, "fill of a sample");
		assert_near(part.keys_estimated, whole.keys_estimated, 0.01, "keys of a sample");
		assert_near(part.fp_rate_estimated, whole.fp_rate_estimated, 0.05,
		            "rate of a sample");
		assert_near(whole.keys_estimated, CAPACITY / 2, 0.002, "keys of the whole");
		assert_false(part.saturated);
		assert_ok(weir_insert_keys(f, weir_keys_u64(keys + CAPACITY / 2, CAPACITY / 2),
		                           NULL));
		assert_false(sampled(f).saturated);
		for (uint64_t i = 0; i < CAPACITY / 10; i++)
			keys[i] = test_key(i + CAPACITY);
		int64_t answer = weir_insert_keys(f, weir_keys_u64(keys, CAPACITY / 10), NULL);
		assert_ok(answer == -ENOSPC ? 0 : answer); /* a full filter may refuse keys */
		/* the sample's error is smaller than the surplus of 10 % */
		assert_true(answer < 0 || sampled(f).saturated);
		assert_true(answer < 0 || exact(f).saturated);
		free(keys);
		weir_destroy(f);
	}
}

/* A sample does not report a surplus that is smaller than the sample's error. An exact measurement
 * reports it. */
static void a_surplus_within_the_error_is_not_saturated(void **state)
{
	enum { CAPACITY = 3000000 };
	struct weir_filter *f = test_filter(WEIR_BLOCKED, CAPACITY, 0.01);
	uint64_t keys = 0;
	(void)state;
	for (; keys < CAPACITY; keys++)
		assert_ok(weir_insert_u64(f, keys));
	const double off = sampled(f).keys_error;
	for (; keys < CAPACITY + (uint64_t)(0.75 * off); keys++)
		assert_ok(weir_insert_u64(f, keys));
	assert_near(sampled(f).keys_estimated, CAPACITY + 0.75 * off, 0.2 * off / CAPACITY, "keys");
	assert_false(sampled(f).saturated);
	assert_true(exact(f).saturated);
	for (; keys < CAPACITY + (uint64_t)(1.5 * off); keys++)
		assert_ok(weir_insert_u64(f, keys));
	assert_true(sampled(f).saturated);
	weir_destroy(f);
}

static void a_sample_scales_stuck_counters(void **state)
{
	struct weir_filter *f = test_filter(WEIR_COUNTING, 1000000, 0.01);
	(void)state;
	for (uint64_t i = 0; i < 20000; i++)
		for (unsigned again = 0; again < 16; again++)
			assert_ok(weir_insert_u64(f, i));
	assert_true(sampled(f).sampled < 0.5);
	assert_true(exact(f).counters_stuck > 20000);
	assert_near((double)sampled(f).counters_stuck, (double)exact(f).counters_stuck, 0.05,
	            "counters_stuck");
	weir_destroy(f);
}

/* Return: a growing filter that is full to max_capacity. */
static struct weir_filter *of_several_layers(uint64_t capacity, double fp_rate)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.kind = WEIR_GROWING;
	params.capacity = capacity;
	params.fp_rate = fp_rate;
	params.growing.max_capacity = 4 * capacity;
	params.seed = 42;
	assert_ok(weir_create(&f, &params));
	for (uint64_t i = 0; i < 4 * capacity; i++)
		assert_ok(weir_insert_u64(f, test_key(i)));
	return f;
}

static void the_rate_includes_every_layer(void **state)
{
	struct weir_filter *f = of_several_layers(50000, 0.5);
	(void)state;
	/* Each layer gets only keys that earlier layers do not report as present, so the layers
	 * overlap a little less than independent layers would. */
	const double share = exact(f).fp_rate_estimated / measured_rate(f);
	assert_true(share > 0.93 && share < 1.01);
	weir_destroy(f);
}

/* The errors of the samples are independent. */
static void errors_of_layers_add_up_as_squares(void **state)
{
	struct weir_filter *f = of_several_layers(300000, 0.01);
	const struct weir_stats part = sampled(f), whole = exact(f);
	(void)state;
	assert_true(part.sampled < 1 && whole.sampled == 1 && whole.keys_error == 0);
	assert_near(part.keys_error * part.keys_error, 9 * part.keys_estimated / part.sampled, 0.1,
	            "the square of what keys of a sample may be off");
	weir_destroy(f);
}

/* A sample reads one page from each of some shards, because single lines from every shard would
 * each miss the cache and the TLB. */
static void a_sample_reads_whole_pages(void **state)
{
	enum { SHARD = 64 << 10, LINE = 64, BYTES = 1024 * SHARD };
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	char *bits = aligned_alloc(64, BYTES);
	(void)state;
	assert_non_null(bits);
	params.max_bytes = params.memory_bytes = BYTES;
	params.memory = bits;
	params.fp_rate = 0.01;
	assert_ok(weir_create(&f, &params));
	assert_int_equal(sampled(f).shards, BYTES / SHARD);
	for (unsigned shard = 0; shard < BYTES / SHARD; shard++)
		/* one half of the shard's first page */
		memset(bits + shard * SHARD + 32 * LINE, 0xff, 32 * LINE);
	struct weir_stats s = sampled(f);
	assert_true(s.fill == 0.5 && s.fill_max == 0.5);
	assert_true(s.sampled * BYTES == 1 << 20);
	weir_destroy(f);
	free(bits);
}

/* A single full shard hardly raises the mean fill. */
static void fill_max_shows_the_fullest_shard(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000000, 0.01);
	struct weir_stats s = exact(f);
	uint64_t random = 0;
	(void)state;
	assert_true(s.shards >= 4);
	for (unsigned i = 0; i < 100000; i++)
		/* hashes of the first shard */
		assert_ok(weir_insert_hash(f, test_random(&random) / s.shards));
	s = exact(f);
	assert_near(s.fill_max, s.fill * s.shards, 0.001, "fill_max");
	weir_destroy(f);
}

static void a_full_array_is_saturated(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		struct weir_filter *f = test_bound_filter(test_kinds[k], 10, 0.1);
		bool takes = test_takes_inserts(f);
		for (uint64_t i = 0; i < 20000 && takes; i++)
			takes = put(f, i, 10);
		struct weir_stats s = exact(f);
		/* in a window only the newest generation is full, which fill_max shows */
		assert_true(!takes || (s.fill_max == 1 && s.fp_rate_estimated == 1 && s.saturated));
		assert_true(!takes || s.fill == 1 || test_forgets(test_kinds[k]));
		/* infinity is a correct estimate, NaN would not be */
		assert_true(!takes || s.keys_estimated > 10);
		weir_destroy(f);
	}
}

static void struct_sizes_are_checked(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01);
	struct weir_stats s = WEIR_STATS_INIT;
	(void)state;
	s.struct_size = 0;
	assert_refused(weir_measure(f, WEIR_SAMPLED, &s), -EINVAL, "struct_size", "0");
	s.struct_size = sizeof s + 8;
	assert_refused(weir_measure(f, WEIR_EXACT, &s), -EINVAL, "weir_stats.struct_size", "_INIT");
	assert_refused(weir_measure(f, WEIR_SAMPLED, NULL), -EINVAL, "weir_stats is NULL", "_INIT");
	memset(&s, 0xa5, sizeof s);
	/* a caller compiled with an older header */
	s.struct_size = offsetof(struct weir_stats, fill);
	assert_ok(weir_measure(f, WEIR_SAMPLED, &s));
	assert_int_equal(s.capacity, 1000);
	for (size_t i = offsetof(struct weir_stats, fill); i < sizeof s; i++)
		assert_int_equal(((unsigned char *)&s)[i], 0xa5);
	assert_int_equal(s.struct_size, offsetof(struct weir_stats, fill));
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_filter_has_no_keys),
		cmocka_unit_test(the_isa_is_the_kernels),
		cmocka_unit_test(estimates_match_measurements),
		cmocka_unit_test(duplicates_change_nothing),
		cmocka_unit_test(a_sample_agrees_with_the_whole),
		cmocka_unit_test(a_surplus_within_the_error_is_not_saturated),
		cmocka_unit_test(a_sample_scales_stuck_counters),
		cmocka_unit_test(the_rate_includes_every_layer),
		cmocka_unit_test(errors_of_layers_add_up_as_squares),
		cmocka_unit_test(a_sample_reads_whole_pages),
		cmocka_unit_test(fill_max_shows_the_fullest_shard),
		cmocka_unit_test(a_full_array_is_saturated),
		cmocka_unit_test(struct_sizes_are_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
