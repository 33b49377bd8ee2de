/* SPDX-License-Identifier: MIT
 * weir_plan_make(): whether the plans for a size, for a rate and for a capacity agree, the choice
 * of the layout, and the reason for the choice. test_params.c tests refused parameters, and
 * test_sizing.c the mathematics. */
#include <errno.h>
#include <math.h>
#include "../test.h"
#include "blocked.h"

static const unsigned words[] = { 1, 2, 4, 8 };

static struct weir_plan plan_of(const struct weir_params *params)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	assert_ok(weir_plan_make(params, &plan));
	return plan;
}

/* Asserts that three plans agree: the size for a rate, the rate of that size, and the capacity of
 * that size. The parameters may choose any layout. */
static void assert_round_trip(struct weir_params params)
{
	struct weir_plan size = plan_of(&params), other;
	double asked = params.fp_rate;
	assert_true(size.fp_rate <= asked);
	assert_ok(weir_params_shape(&params, &size.shape));
	params.max_bytes = size.bytes, params.fp_rate = 0; /* plan the rate for this size */
	other = plan_of(&params);
	assert_int_equal(other.bytes, size.bytes);
	assert_int_equal(other.shards, size.shards);
	assert_true(other.fp_rate == size.fp_rate);
	/* plan the capacity for this size, which is the largest number of keys within the rate */
	params.fp_rate = asked, params.capacity = 0;
	other = plan_of(&params);
	assert_int_equal(other.bytes, size.bytes);
	assert_true(other.capacity >= size.capacity && other.fp_rate <= asked * (1 + 1e-9));
	params.capacity = other.capacity + 2 + other.capacity / 100000, params.fp_rate = 0;
	if (asked < 0.49)
		assert_true(plan_of(&params).fp_rate > asked);
	else
		assert_refused(weir_plan_make(&params, &other), -EINVAL, "max_bytes",
		               "0.5 is the most");
	/* The capacity and the rate fit in the size, but not in a size with one line less per
	 * shard. */
	params.capacity = size.capacity, params.fp_rate = asked;
	assert_int_equal(plan_of(&params).bytes, size.bytes);
	params.max_bytes = size.bytes - 64 * (uint64_t)size.shards;
	if (params.max_bytes)
		assert_refused(weir_plan_make(&params, &other), -EFBIG, "max_bytes", "capacity");
}

static void three_directions_agree(void **state)
{
	static const double rates[] = { 0.5, 0.1, 0.01, 0.001, 1e-4, 1e-6, 1e-9 };
	(void)state;
	for (size_t r = 0; r < COUNT_OF(rates); r++)
		for (uint64_t capacity = 1; capacity < UINT64_C(1) << 30;
		     capacity = capacity * 23 + 5) {
			struct weir_params params = WEIR_PARAMS_INIT;
			params.fp_rate = rates[r];
			params.capacity = capacity;
			assert_round_trip(params);
			params.kind = WEIR_CLASSIC;
			assert_round_trip(params);
			params.kind = WEIR_BLOCKED, params.blocked.words_per_key = 2;
			assert_round_trip(params);
			params.blocked.words_per_key = 0, params.blocked.bits_per_word = 2;
			assert_round_trip(params);
		}
}

static double least_rate(double bits_per_key, unsigned z)
{
	double least = 1;
	for (unsigned g = 1; g <= weir__blocked_max_g(z); g++)
		least = fmin(least, blocked_rate(bits_per_key, z, g));
	return least;
}

/* The planner's rule of 6 %, in both directions. For a rate, the planner chooses the fewest words
 * whose size is within 6 % of the smallest size. For a size, the planner chooses the fewest words
 * that reach the best rate of a size 6 % smaller. */
static void the_fewest_words_within_6_percent(void **state)
{
	unsigned same = 0, all = 0;
	(void)state;
	for (double fp_rate = 0.4; fp_rate > 1e-8; fp_rate /= 1.1, all++) {
		struct weir_params params = WEIR_PARAMS_INIT;
		double bits[4], least = INFINITY;
		params.capacity = 123456789;
		params.fp_rate = fp_rate;
		struct weir_plan size = plan_of(&params);
		for (size_t i = 0; i < COUNT_OF(words); i++) {
			bits[i] = INFINITY;
			for (unsigned g = 1; g <= weir__blocked_max_g(words[i]); g++)
				bits[i] = fmin(bits[i], blocked_bits(fp_rate, words[i], g));
			least = fmin(least, bits[i]);
		}
		unsigned z = test_number(&size.shape, "words_per_key");
		for (size_t i = 0; i < COUNT_OF(words) && words[i] <= z; i++)
			assert_true((bits[i] <= least * 1.06) == (words[i] == z));
		params.max_bytes = size.bytes, params.fp_rate = 0;
		struct weir_plan rate = plan_of(&params);
		unsigned by_size = test_number(&rate.shape, "words_per_key");
		same += by_size == z;
		double allowed = 1;
		for (size_t i = 0; i < COUNT_OF(words); i++)
			allowed = fmin(allowed, least_rate(rate.bits_per_key / 1.06, words[i]));
		for (size_t i = 0; i < COUNT_OF(words) && words[i] <= by_size; i++)
			assert_true((least_rate(rate.bits_per_key, words[i]) <= allowed) ==
			            (words[i] == by_size));
	}
	print_message("the size of a rate gets the words of that rate in %u of %u\n", same, all);
	/* Near a rate at which the number of words changes, the plan for the size may choose fewer
	 * words than the plan for the rate. */
	assert_true(same * 100 >= all * 90);
}

/* Two keys with the same hash are one key to the filter. */
static void equal_64_bit_hashes_set_a_floor(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan plan;
	(void)state;
	params.kind = WEIR_CLASSIC;
	params.capacity = UINT64_C(1) << 34;
	params.fp_rate = 4e-9;
	plan = plan_of(&params);
	assert_true(plan.fp_rate_floor == exp2(-30) && plan.fp_rate > plan.fp_rate_floor &&
	            plan.fp_rate <= 4e-9);
	/* the planned rate includes the floor (the rate of equal hashes), and is still close to
	 * the requested rate */
	assert_true(plan.fp_rate > 3.9e-9);
	params.fp_rate = 1e-9;
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "fp_rate 1e-09", "17179869184");
	params.capacity = 0, params.max_bytes = UINT64_C(1) << 46;
	plan = plan_of(&params);
	assert_true(plan.fp_rate <= 1e-9 && plan.fp_rate_floor <= 0.5e-9 * (1 + 1e-9));
}

static void contradictory_parameters_are_refused(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	(void)state;
	params.capacity = 1000, params.fp_rate = 0.01;
	params.flags = WEIR_HUGETLB | WEIR_NO_HUGE_PAGES;
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "flags 0x3", "exclude");
	params.flags = 0, params.kind = WEIR_CLASSIC, params.classic.probes = 33;
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "probes 33", "32");
	/* the kind classic has no words per key */
	params.classic.probes = 0, params.blocked.words_per_key = 7;
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "words_per_key 7", "classic");
	params.kind = WEIR_BLOCKED, params.blocked.words_per_key = 0, params.classic.probes = 7;
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "probes 7", "blocked");
	params.classic.probes = 0, params.shards = 3;
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "shards 3", "power of two");
	params.shards = 131072;
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "shards 131072", "65536");
}

/* Each shard has at least 1024 lines. */
static void the_requested_shards_are_planned(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan chosen = WEIR_PLAN_INIT, plan = WEIR_PLAN_INIT;
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		params = (struct weir_params)WEIR_PARAMS_INIT;
		params.kind = test_kinds[k];
		params.capacity = 10000000, params.fp_rate = 0.01;
		if (test_kinds[k] == WEIR_WINDOW) { /* a window always has one shard */
			params.shards = 2;
			assert_refused(weir_plan_make(&params, &plan), -EINVAL, "shards 2",
			               "kind window");
			params.shards = 1;
			assert_ok(weir_plan_make(&params, &plan));
			continue;
		}
		assert_ok(weir_plan_make(&params, &chosen));
		for (params.shards = 1; params.shards <= chosen.shards; params.shards *= 2) {
			assert_ok(weir_plan_make(&params, &plan));
			assert_int_equal(plan.shards, params.shards);
			assert_int_equal(plan.bytes / 64 % params.shards, 0);
			assert_true(plan.bytes <= chosen.bytes);
		}
		/* The array is too small for 65536 shards. First its size follows from rate and
		 * capacity, and later max_bytes gives the size. */
		params.shards = 65536;
		assert_refused(weir_plan_make(&params, &plan), -EINVAL, "shards 65536",
		               "1024 lines");
		params.max_bytes = 1 << 20, params.fp_rate = 0;
		assert_refused(weir_plan_make(&params, &plan), -EINVAL, "shards 65536", "16384");
		params.capacity = 0, params.fp_rate = 0.01, params.shards = 16;
		assert_ok(weir_plan_make(&params, &plan));
		assert_true(plan.shards == 16 && plan.bytes == 1 << 20);
	}
}

static void a_size_too_small_for_one_key_is_refused(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	(void)state;
	params.fp_rate = 1e-9, params.max_bytes = 64, params.blocked.words_per_key = 1;
	assert_refused(weir_plan_make(&params, &plan), -EINVAL, "max_bytes 64",
	               "too small for one key");
}

/* With eight bits per word, four or eight words per key are impossible. */
static void many_bits_per_word_leave_few_words(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	(void)state;
	params.capacity = 1000, params.fp_rate = 1e-5, params.blocked.bits_per_word = 8;
	struct weir_plan plan = plan_of(&params);
	assert_int_equal(test_number(&plan.shape, "bits_per_word"), 8);
	assert_in_range(test_number(&plan.shape, "words_per_key"), 1, 2);
}

static void a_plan_gives_its_reason(void **state)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	(void)state;
	params.capacity = 1000000;
	params.fp_rate = 0.01;
	struct weir_plan plan = plan_of(&params);
	assert_non_null(strstr(plan.reason, "fewest words"));
	params.blocked.words_per_key = 4;
	assert_non_null(strstr(plan_of(&params).reason, "asked for"));
	params.blocked.bits_per_word = 2;
	assert_non_null(strstr(plan_of(&params).reason, "bits a word that were asked for"));
	params = (struct weir_params)WEIR_PARAMS_INIT;
	params.kind = WEIR_CLASSIC, params.capacity = 1000000, params.fp_rate = 0.01;
	plan = plan_of(&params);
	assert_int_equal(test_number(&plan.shape, "probes"), 7);
	assert_non_null(strstr(plan.reason, "least memory"));
	params.classic.probes = 5;
	plan = plan_of(&params);
	assert_int_equal(test_number(&plan.shape, "probes"), 5);
	assert_non_null(strstr(plan.reason, "asked for"));
	struct {
		struct weir_plan plan;
		char after[8];
	} old = { { .struct_size = offsetof(struct weir_plan, reason) }, "" };
	old.plan.reason = old.after;
	/* the struct of an older header is shorter: the planner writes nothing beyond it */
	assert_ok(weir_plan_make(&params, &old.plan));
	assert_true(old.plan.fp_rate == plan.fp_rate && old.plan.reason == old.after);
	assert_int_equal(old.plan.struct_size, offsetof(struct weir_plan, reason));
}

/* The bits per key of a full filter equal the bits per key of the plan. */
static void filters_that_cannot_grow_are_full_at_capacity(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++) {
		struct weir_params params = WEIR_PARAMS_INIT;
		params.kind = test_kinds[k], params.capacity = 1000, params.fp_rate = 0.01;
		if (params.kind == WEIR_GROWING)
			continue;
		const struct weir_plan plan = plan_of(&params);
		assert_true(plan.bits_per_key > 0);
		assert_true(plan.growing.full_bits_per_key == plan.bits_per_key);
		assert_true(plan.growing.worst_bits_per_key == plan.bits_per_key);
		assert_true(plan.growing.late_bits_per_key == plan.bits_per_key);
		assert_int_equal(plan.growing.max_capacity, plan.capacity);
		assert_int_equal(plan.growing.full_bytes, plan.bytes);
	}
}

static void parameters_of_a_filter_create_its_like(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT_OF(test_kinds); k++)
		for (uint64_t capacity = 1; capacity < 10000000; capacity = capacity * 7 + 3) {
			double rate = 0.3 / (double)capacity + 1e-6;
			if (!test_affords(test_kinds[k], rate))
				continue;
			struct weir_filter *f = test_filter(test_kinds[k], capacity, rate),
			                   *like = NULL;
			struct weir_params params = WEIR_PARAMS_INIT;
			struct weir_stats a = WEIR_STATS_INIT, b = WEIR_STATS_INIT;
			assert_ok(weir_params_of(f, &params));
			assert_null(params.memory);
			assert_ok(weir_create(&like, &params));
			assert_ok(weir_measure(f, WEIR_SAMPLED, &a));
			assert_ok(weir_measure(like, WEIR_SAMPLED, &b));
			assert_true(a.bytes == b.bytes && a.shards == b.shards &&
			            a.capacity == b.capacity);
			test_assert_same_shape(&a.shape, &b.shape);
			int err = weir_merge(like, f);
			assert_ok(err == -ENOTSUP ? 0 : err);
			weir_destroy(f), weir_destroy(like);
		}
}

static void parameters_of_a_filter_fit_an_older_header(void **state)
{
	struct weir_filter *f = test_filter(WEIR_BLOCKED, 1000, 0.01);
	struct weir_params older = WEIR_PARAMS_INIT;
	(void)state;
	/* the struct ends after the field blocked */
	older.struct_size = offsetof(struct weir_params, classic);
	older.classic.probes = 9;
	assert_ok(weir_params_of(f, &older));
	assert_true(older.struct_size == offsetof(struct weir_params, classic) &&
	            older.seed == 42 && older.classic.probes == 9);
	older.struct_size = 0;
	assert_refused(weir_params_of(f, &older), -EINVAL, "weir_params.struct_size 0", "_INIT");
	assert_refused(weir_params_of(f, NULL), -EINVAL, "weir_params is NULL", "_INIT");
	weir_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_directions_agree),
		cmocka_unit_test(the_fewest_words_within_6_percent),
		cmocka_unit_test(equal_64_bit_hashes_set_a_floor),
		cmocka_unit_test(contradictory_parameters_are_refused),
		cmocka_unit_test(the_requested_shards_are_planned),
		cmocka_unit_test(a_size_too_small_for_one_key_is_refused),
		cmocka_unit_test(many_bits_per_word_leave_few_words),
		cmocka_unit_test(a_plan_gives_its_reason),
		cmocka_unit_test(filters_that_cannot_grow_are_full_at_capacity),
		cmocka_unit_test(parameters_of_a_filter_create_its_like),
		cmocka_unit_test(parameters_of_a_filter_fit_an_older_header),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
