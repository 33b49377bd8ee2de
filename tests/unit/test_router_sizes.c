/* SPDX-License-Identifier: MIT
 * The planner for routers: its formula is compared with a simulation and with measured routers,
 * with bounds on both sides. The tests also cover errors. */
#include <math.h>
#include "router.h"
#include "router/router.h"

/* Simulates the model of the formula: a Poisson number of keys per page, and k random rows per
 * key. */
static double simulated(double load, unsigned columns, unsigned k, unsigned pages)
{
	const unsigned rows = 32768 / columns;
	const uint64_t keys = (uint64_t)(load * pages);
	unsigned char *bit = calloc(pages, rows);
	double sum = 0;
	uint64_t draw = 1;
	assert_non_null(bit);
	for (uint64_t i = 0; i < keys; i++) {
		unsigned char *page = bit + test_random(&draw) % pages * rows;
		for (unsigned j = 0; j < k; j++)
			page[test_random(&draw) % rows] = 1;
	}
	for (unsigned p = 0; p < pages; p++) {
		unsigned set = 0;
		for (unsigned i = 0; i < rows; i++)
			set += bit[p * rows + i];
		sum += pow((double)set / rows, k);
	}
	free(bit);
	return sum / pages;
}

static void the_formula_matches_a_simulation(void **state)
{
	static const struct {
		double load;
		unsigned columns, k;
	} cases[] = { { 52, 64, 6 }, { 105, 32, 6 }, { 205, 16, 7 }, { 413, 8, 6 }, { 34, 64, 10 },
		      { 100, 64, 3 } };
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(cases); i++) {
		double is = simulated(cases[i].load, cases[i].columns, cases[i].k, 20000);
		double by = weir__router_rate(cases[i].load, cases[i].columns, cases[i].k);
		assert_true(fabs(is / by - 1) < 0.01);
	}
}

/* A set with half as many keys as the full set has less than a tenth of the full set's rate. */
static void measured_rates_match_the_plan(void **state)
{
	enum { KEYS = 30000, OTHERS = 400000 };
	static const uint32_t sets[] = { 5, 16, 32, 64 };
	(void)state;
	for (unsigned w = 0; w < COUNT_OF(sets); w++) {
		uint64_t draw = 1000000000, false_by[2] = { 0, 0 };
		struct weir_filter *r = router_of(sets[w], KEYS, 0);
		const struct weir_shape s = whole_stats(r).shape;
		const uint32_t last = sets[w] - 1;
		for (uint64_t i = 0; i < KEYS; i++) {
			assert_ok(weir_insert_into_hash(r, 0, test_key(2 * i)));
			if (i % 2)
				assert_ok(weir_insert_into_hash(r, last, test_key(2 * i + 1)));
		}
		for (uint64_t i = 0; i < KEYS; i++) {
			assert_true(weir_route_hash(r, test_key(2 * i)) & 1);
			if (i % 2)
				assert_true(weir_route_hash(r, test_key(2 * i + 1)) >>
				            last & 1);
		}
		for (uint64_t i = 0; i < OTHERS; i++) {
			uint64_t mask = weir_route_hash(r, test_random(&draw));
			false_by[0] += mask & 1;
			false_by[1] += mask >> last & 1;
			assert_true((mask & ~(1 | UINT64_C(1) << last)) == 0);
		}
		double full = (double)false_by[0] / OTHERS, half = (double)false_by[1] / OTHERS;
		double load = KEYS / (double)(whole_stats(r).bytes / 4096 - 1);
		double asked = weir__router_rate(load, test_number(&s, "columns"),
		                                 test_number(&s, "rows_per_key"));
		assert_true(asked <= 0.01 && asked > 0.0094);
		assert_true(full > 0.93 * asked && full < 1.07 * asked);
		assert_true(half < 0.1 * full);
		weir_destroy(r);
	}
}

static struct weir_plan planned(const struct weir_params *o)
{
	struct weir_plan p = WEIR_PLAN_INIT;
	assert_ok(weir_plan_make(o, &p));
	return p;
}

/* The plan has 9.9 bits per key and set, and 0.64 false sets for an absent key. */
static void a_plan_for_64_sets_at_1_percent(void **state)
{
	struct weir_params o = router_params(64, 1000000);
	struct weir_plan p = planned(&o);
	(void)state;
	assert_true(p.bits_per_key > 64 * 9.7 && p.bits_per_key < 64 * 9.95);
	assert_true(p.router.false_sets > 0.62 && p.router.false_sets <= 0.64);
	assert_true(p.bytes % 4096 == 0 && test_number(&p.shape, "columns") == 64 &&
	            test_number(&p.shape, "rows_per_key") == 6);
	assert_true(fabs(p.router.bytes_wasted) < 1);
	/* the plans from bytes and rate, and from bytes and capacity, agree */
	o.max_bytes = p.bytes;
	o.capacity = 0;
	struct weir_plan q = planned(&o);
	assert_true(q.bytes == p.bytes && q.capacity >= 1000000 && q.capacity < 1005000);
	o.capacity = 1000000;
	o.fp_rate = 0;
	q = planned(&o);
	assert_true(q.bytes == p.bytes && q.fp_rate <= p.fp_rate * 1.0001);
}

static void the_plan_follows_the_largest_set(void **state)
{
	const uint64_t keys[3] = { 1000000, 500000, 0 };
	struct weir_params o = router_params(3, 0);
	o.router.keys = keys;
	struct weir_plan p = planned(&o);
	(void)state;
	assert_true(p.capacity == 1000000 && test_number(&p.shape, "columns") == 8);
	/* one and a half of eight columns are used */
	assert_true(fabs(p.router.bytes_wasted / (double)p.bytes - 6.5 / 8) < 1e-9);
	assert_true(p.router.false_sets > 0.0097 && p.router.false_sets < 0.0105);
	const uint64_t bytes = p.bytes;
	o.capacity = 1000000; /* the capacity of the largest set */
	p = planned(&o);
	assert_true(p.capacity == 1000000 && p.bytes == bytes);
	o.capacity = 7;
	assert_refused(weir_plan_make(&o, &p), -EINVAL, "capacity 7", "1000000");
	o.capacity = 0;
	o.router.keys = (uint64_t[3]){ 0 };
	assert_refused(weir_plan_make(&o, &p), -EINVAL, "keys", "empty");
}

static void without_a_number_of_sets_8_are_planned(void **state)
{
	struct weir_params o = router_params(0, 1000);
	struct weir_plan p = planned(&o);
	(void)state;
	assert_int_equal(test_number(&p.shape, "sets"), 8);
}

static void wrong_parameters_are_refused(void **state)
{
	struct weir_plan p = WEIR_PLAN_INIT;
	struct weir_params o = router_params(65, 1000);
	(void)state;
	assert_refused(weir_plan_make(&o, &p), -EINVAL, "sets 65", "64");
	o = router_params(8, 0);
	assert_refused(weir_plan_make(&o, &p), -EINVAL, "capacity 0", "two");
	o = router_params(8, UINT64_C(1) << 49);
	assert_refused(weir_plan_make(&o, &p), -EINVAL, "capacity", "2^48");
	o = router_params(8, 1000);
	o.fp_rate = 1e-7;
	assert_refused(weir_plan_make(&o, &p), -EINVAL, "fp_rate 1e-07", "1e-06");
	o.fp_rate = 0.6;
	assert_refused(weir_plan_make(&o, &p), -EINVAL, "fp_rate 0.6", "0.5");
	o.fp_rate = 0.01;
	o.max_bytes = 8191;
	assert_refused(weir_plan_make(&o, &p), -EINVAL, "max_bytes 8191", "8192");
	o.max_bytes = 8192;
	assert_refused(weir_plan_make(&o, &p), -EFBIG, "capacity 1000", "8192");
	o.fp_rate = 0;
	o.capacity = 100000;
	assert_refused(weir_plan_make(&o, &p), -EINVAL, "max_bytes 8192", "0.5");
	o.capacity = 0;
	o.fp_rate = 1e-6;
	o.router.rows_per_key = 1; /* a page with one key would exceed the rate */
	assert_refused(weir_plan_make(&o, &p), -EINVAL, "max_bytes 8192", "too small for one key");
	o.router.rows_per_key = 11;
	assert_refused(weir_plan_make(&o, &p), -EINVAL, "rows_per_key 11", "10");
	o = router_params(64, UINT64_C(1) << 46);
	assert_refused(weir_plan_make(&o, &p), -EFBIG, "capacity", "bytes");
	o.flags = 1u << 30;
	assert_refused(weir_plan_make(&o, &p), -EINVAL, "flags", "unknown");
	p.struct_size = 4;
	o = router_params(8, 1000);
	assert_refused(weir_plan_make(&o, &p), -EINVAL, "weir_plan", "4");
}

static void a_router_has_at_most_65536_shards(void **state)
{
	struct weir_params o = router_params(64, UINT64_C(1) << 36);
	(void)state;
	assert_int_equal(planned(&o).shards, 65536);
}

static void shape_texts_name_the_sets(void **state)
{
	struct weir_params o = router_params(1, 1000);
	char text[WEIR_SHAPE_TEXT];
	(void)state;
	o.router.rows_per_key = 1;
	struct weir_plan p = planned(&o);
	assert_ok(weir_shape_text(&p.shape, text));
	assert_string_equal(text, "1 set in 8 columns, 1 row a key");
	o = router_params(2, 1000);
	o.router.rows_per_key = 2;
	p = planned(&o);
	assert_ok(weir_shape_text(&p.shape, text));
	assert_string_equal(text, "2 sets in 8 columns, 2 rows a key");
}

/* With more than 10^14 keys per page, a sum over the number of keys would have too many terms. */
static void far_too_many_keys_are_refused_quickly(void **state)
{
	struct weir_params o = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	(void)state;
	o.kind = WEIR_ROUTER;
	o.router.sets = 3;
	o.capacity = UINT64_C(1) << 48;
	o.max_bytes = 8192;
	assert_refused(weir_plan_make(&o, &plan), -EINVAL, "the rate of a set would be 1,", "");
	for (unsigned k = 1; k <= WEIR__ROUTER_ROWS; k++) {
		/* with more keys per page, the planner takes the rate as 1 */
		const double most = 64.0 * 512 / k;
		assert_true(weir__router_rate(most, 64, k) > 1 - 1e-9);
		assert_true(weir__router_rate(1.01 * most, 64, k) <= 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_formula_matches_a_simulation),
		cmocka_unit_test(measured_rates_match_the_plan),
		cmocka_unit_test(a_plan_for_64_sets_at_1_percent),
		cmocka_unit_test(the_plan_follows_the_largest_set),
		cmocka_unit_test(without_a_number_of_sets_8_are_planned),
		cmocka_unit_test(wrong_parameters_are_refused),
		cmocka_unit_test(far_too_many_keys_are_refused_quickly),
		cmocka_unit_test(a_router_has_at_most_65536_shards),
		cmocka_unit_test(shape_texts_name_the_sets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
