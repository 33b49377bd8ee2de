/* SPDX-License-Identifier: MIT
 * The histogram of weir drill: the classes of values next to powers of two, quantiles that are
 * exact to 1 %, the exact maximum, and the sum of two histograms. */
#include <string.h>
#include "../../src/tool/drill/ticks.h"
#include "../test.h"

static struct histogram a, b;

static void an_empty_histogram_has_no_quantiles(void **state)
{
	(void)state;
	memset(&a, 0, sizeof a);
	assert_true(histogram_quantile(&a, 0.5) == 0.0);
	assert_true(a.most == 0);
}

/* A quantile is the middle of its class. Values below 128 have a class each, so their quantiles are
 * exact. */
static void every_quantile_of_one_value_is_the_value(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 64; bit++)
		for (int beside = -1; beside <= 1; beside++) {
			uint64_t value = (UINT64_C(1) << bit) + (uint64_t)(int64_t)beside;
			memset(&a, 0, sizeof a);
			histogram_add(&a, value);
			double median = histogram_quantile(&a, 0.5);
			assert_true(a.most == value && a.total == 1);
			if (value < 128)
				assert_true(median == (double)value);
			else
				assert_true(median > 0.99 * (double)value &&
				            median < 1.01 * (double)value);
			assert_true(histogram_quantile(&a, 0.0) == median &&
			            histogram_quantile(&a, 1.0) == median);
		}
}

static void quantiles_of_equally_spaced_values(void **state)
{
	(void)state;
	memset(&a, 0, sizeof a);
	for (uint64_t i = 1; i <= 1000000; i++)
		histogram_add(&a, i * 7919 % 1000003);
	static const double q[] = { 0.001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999 };
	for (size_t i = 0; i < COUNT_OF(q); i++) {
		double value = histogram_quantile(&a, q[i]);
		assert_true(value > 0.99 * q[i] * 1e6 && value < 1.01 * q[i] * 1e6);
	}
}

static void a_rare_large_value_is_kept(void **state)
{
	(void)state;
	memset(&a, 0, sizeof a);
	memset(&b, 0, sizeof b);
	for (unsigned i = 0; i < 9980; i++)
		histogram_add(&a, 50);
	for (unsigned i = 0; i < 20; i++)
		histogram_add(&b, 40000 + i);
	histogram_merge(&a, &b);
	assert_true(a.total == 10000 && a.most == 40019);
	assert_true(histogram_quantile(&a, 0.5) == 50 && histogram_quantile(&a, 0.99) == 50);
	assert_true(histogram_quantile(&a, 0.999) > 39600 &&
	            histogram_quantile(&a, 0.999) <= 40019);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_histogram_has_no_quantiles),
		cmocka_unit_test(every_quantile_of_one_value_is_the_value),
		cmocka_unit_test(quantiles_of_equally_spaced_values),
		cmocka_unit_test(a_rare_large_value_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
