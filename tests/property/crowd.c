/* SPDX-License-Identifier: MIT
 * The number of keys that a cuckoo filter takes before it refuses a key, against the formula that
 * gives its capacity (src/kinds/cuckoo/whole.c). For any number of keys, the share of full builds
 * may be no larger than the formula says. A share of one in a million is too rare to measure, so
 * for such shares the test relies on the proof of the formula. The capacity is the last number of
 * keys at which the formula gives at most 1e-6. Within its capacity no build refuses a key. */
#include <string.h>
#include "../crowd.h"
#include "../test.h"

enum { MOST = 1024 };
static unsigned builds = 400;

/* Return: the number of keys that the filter takes before it first refuses one. */
static unsigned taken(uint32_t bits, unsigned lines, uint64_t seed)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	unsigned n = 0;
	p.kind = WEIR_CUCKOO, p.cuckoo.fingerprint_bits = bits, p.seed = seed;
	p.capacity = 1, p.max_bytes = 64 * lines;
	assert_ok(weir_create(&f, &p));
	while (n < MOST && weir_insert_u64(f, test_key(n)) >= 0)
		n++;
	weir_destroy(f);
	return n;
}

/* Check, for each number of keys, that the builds that have refused a key exceed the formula by at
 * most 5 standard deviations and 1.5 builds. Within the capacity no build may refuse a key. */
static void judge(uint32_t bits, unsigned lines, const unsigned *full)
{
	const unsigned m = 8 * lines, places = 64 / bits;
	unsigned refused = 0, rarest = 0;
	double allowed, at_rarest = 1;
	for (unsigned n = 1; n < MOST && refused < builds; n++) {
		allowed = n > m * places ? 1 : fmin(crowd_chance(m, places, n), 1);
		refused += full[n - 1]; /* builds that took n - 1 keys have refused key n */
		double most = builds * allowed, spread = 5 * sqrt(most) + 1.5;
		if (refused > most + spread || (allowed <= 1e-6 && refused))
			fail_msg("%u bits, %u lines: %u keys: %u of %u builds were full, not %g",
			         bits, lines, n, refused, builds, most);
		if (refused && !rarest)
			rarest = refused, at_rarest = allowed;
	}
	assert_true(refused == builds); /* every build has refused a key */
	print_message("%u bits, %2u lines: the first that is not 0: %g, allowed %g\n", bits,
	              lines, (double)rarest / builds, at_rarest);
}

static void fuller_than_the_formula_allows(void **state)
{
	static const unsigned sizes[] = { 1, 2, 4, 8, 12 };
	(void)state;
	for (uint32_t bits = 12; bits <= 16; bits += 4)
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
			static unsigned full[MOST + 1];
			memset(full, 0, sizeof full);
			for (unsigned seed = 1; seed <= builds; seed++)
				full[taken(bits, sizes[i], seed)]++;
			judge(bits, sizes[i], full);
		}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(fuller_than_the_formula_allows) };
	if (argc > 1 && strcmp(argv[1], "slow") == 0)
		builds = 100000;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
