/* SPDX-License-Identifier: MIT
 * Kinds that are built once: no key is missed and the rate is that of the fingerprints, from a few
 * keys to arrays of more than 2^32 bits, whose parts lie beyond any 32-bit offset. */
#include <math.h>
#include "../test.h"

enum { ABSENT = 2000000 };

/* @capacity: room for so many, of which @n come. Where most cells are free the rate is lower. */
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
	p.fingerprint_bits = width;
	p.seed = n + width;
	for (size_t i = 0; i < n; i++)
		hashes[i] = test_key(i);
	assert_ok(weir_build(&f, &p, hashes, n));
	assert_int_equal(weir_contains_hashes(f, hashes, n, NULL), n);
	for (size_t i = 0; i < n; i++)
		if (!weir_contains_hash(f, hashes[i]))
			fail_msg("key %zu of %zu is missed", i, n);
	for (uint64_t i = 0; i < ABSENT; i++)
		found += weir_contains_hash(f, test_key(n + i));
	assert_ok(weir_stats(f, &s));
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

/* 9.15 bits a key from a million on. */
static void size_at_8_bits(void **state)
{
	(void)state;
	for (size_t n = 1000000; n <= 5000000; n += n / 7 * 3)
		built(n, n, 8, (uint64_t)((double)n * 9.15 / 8));
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
		cmocka_unit_test(more_than_2_to_the_32_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
