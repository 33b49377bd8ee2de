/* SPDX-License-Identifier: MIT
 * Kinds that are built once. Every key is found. In fuse filters of 10 to 2.2 million keys the rate
 * is that of the fingerprints. A filter of more than 2^32 bits, with parts beyond any 32-bit
 * offset, has at most this rate. Layered filters have an exclude list: the keys of both lists get
 * the right answer, and other keys have half of the rate of the first level. */
#include <math.h>
#include "../test.h"

enum { ABSENT = 2000000 };

/* Build a filter for @capacity keys from @n keys. Free cells lower the rate, so the test has a
 * lower bound for the rate only if the filter is full and has 1000 keys or more. */
static void built(uint64_t capacity, size_t n, unsigned width, uint64_t most_bytes)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	struct weir_stats s = WEIR_STATS_INIT;
	uint64_t *hashes = malloc(n * sizeof *hashes + 8), found = 0;
	const double odds = ldexp(1, -(int)width), expected = odds * ABSENT;
	assert_non_null(hashes);
	p.kind = WEIR_FUSE;
	p.capacity = capacity;
	p.fp_rate = odds;
	p.fuse.fingerprint_bits = width;
	p.seed = n + width;
	for (size_t i = 0; i < n; i++)
		hashes[i] = test_key(i);
	assert_ok(weir_build(&f, &p, weir_keys_hashes(hashes, n), NULL));
	assert_int_equal(weir_contains_keys(f, weir_keys_hashes(hashes, n), NULL), n);
	for (size_t i = 0; i < n; i++)
		if (!weir_contains_hash(f, hashes[i]))
			fail_msg("key %zu of %zu is missed", i, n);
	for (uint64_t i = 0; i < ABSENT; i++)
		found += weir_contains_hash(f, test_key(n + i));
	assert_ok(weir_measure(f, WEIR_SAMPLED, &s));
	assert_true(s.bytes <= most_bytes);
	if ((double)found > expected + 5 * sqrt(expected) + 3 ||
	    ((double)found < 0.96 * expected - 5 * sqrt(expected) && capacity == n && n >= 1000))
		fail_msg("%zu keys, %u bits: %llu of %d absent keys found, expected %.0f", n, width,
		         (unsigned long long)found, ABSENT, expected);
	weir_destroy(f);
	free(hashes);
}

static void rates(void **state)
{
	static const size_t sizes[] = { 10, 1000, 30000, 700000, 1500000, 2200000 };
	static const unsigned widths[] = { 3, 8, 12, 16 };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(sizes); i++)
		for (size_t j = 0; j < COUNT_OF(widths); j++)
			built(sizes[i], sizes[i], widths[j], UINT64_MAX);
}

/* From one million to five million keys, a filter has at most 9.15 bits a key. */
static void size_at_8_bits(void **state)
{
	(void)state;
	for (size_t n = 1000000; n <= 5000000; n += n / 7 * 3)
		built(n, n, 8, (uint64_t)((double)n * 9.15 / 8));
}

/* Look up keys from @first on, 4096 at a time. Return: the number of keys found. */
static uint64_t found_in(const struct weir_filter *f, uint64_t first, uint64_t n)
{
	uint64_t hashes[4096], found = 0;
	for (uint64_t at = 0; at < n; at += COUNT_OF(hashes)) {
		const size_t some = n - at < COUNT_OF(hashes) ? n - at : COUNT_OF(hashes);
		for (size_t i = 0; i < some; i++)
			hashes[i] = test_key(first + at + i);
		found += weir_contains_keys(f, weir_keys_hashes(hashes, some), NULL);
	}
	return found;
}

/* Check that the rate is as expected, +- 5 % and 5 standard deviations. From a million keys on the
 * size is less than 5 % above 1.125 * (@width + 1 bits for each included key, and 1 bit for each
 * excluded key that passes the first level). */
static void layered(uint64_t n, uint64_t m, double fp_rate, unsigned width)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_build_report r = WEIR_BUILD_REPORT_INIT;
	struct weir_builder *b = NULL;
	struct weir_filter *f = NULL;
	struct weir_stats s = WEIR_STATS_INIT;
	const double half = ldexp(1, -(int)width - 1), expected = half * ABSENT;
	p.kind = WEIR_LAYERED;
	p.fp_rate = fp_rate;
	p.layered.exclude_keys = m;
	p.seed = n + m;
	assert_ok(weir_builder_create(&b, &p, NULL));
	for (uint64_t i = 0; i < n; i++)
		assert_ok(weir_builder_add_hash(b, test_key(i)));
	assert_ok(weir_builder_seal(b));
	for (uint64_t i = 0; i < m; i++)
		assert_ok(weir_builder_exclude_hash(b, test_key(n + i)));
	assert_ok(weir_builder_finish(&f, b, &r));
	weir_builder_destroy(b);
	assert_int_equal(found_in(f, 0, n), n);
	assert_int_equal(found_in(f, n, m), 0);
	assert_ok(weir_measure(f, WEIR_SAMPLED, &s));
	assert_int_equal(s.shape.field[0], width);
	const double theory = 1.125 * ((double)n * width + (double)(n + r.passed));
	assert_true(n < 1000000 || 8 * (double)s.bytes < 1.05 * theory);
	const double found = (double)found_in(f, n + m, ABSENT);
	if (fabs(found - expected) > 0.05 * expected + 5 * sqrt(expected))
		fail_msg("%llu and %llu keys, %u bits: %.0f of %d absent keys found, expected %.0f",
		         (unsigned long long)n, (unsigned long long)m, width, found, ABSENT,
		         expected);
	weir_destroy(f);
}

static void two_lists(void **state)
{
	(void)state;
	layered(1000, 0, 0.1, 3);
	layered(1000, 200000, 0.5, 7);
	layered(20000, 300, 0.01, 6);
	layered(300000, 5000000, 0.5, 4);
	layered(300000, 5000000, 0.0005, 10);
	layered(2300000, 9000000, 0.5, 1); /* two parts in level 1, four parts in level 2 */
	layered(1100000, 2300000, 0.5, 1); /* one part in level 1, two parts in level 2 */
}

static void more_than_2_to_the_32_bits(void **state)
{
	(void)state;
	built(UINT64_C(500000000), 400000, 8, UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates),
		cmocka_unit_test(size_at_8_bits),
		cmocka_unit_test(two_lists),
		cmocka_unit_test(more_than_2_to_the_32_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
