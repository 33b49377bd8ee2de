/* SPDX-License-Identifier: MIT
 * The planner's sizes, compared with a table that was computed independently, and with the
 * layout's formula summed term by term. tests/property measures whether filters have the planned
 * rate. */
#include <math.h>
#include "../test.h"
#include "blocked.h"
#include "kind/sizing.h"

static const unsigned words[] = { 1, 2, 4, 8 };

/* Bits per key for each rate. The blocked values are for z = 1, 2, 4 and 8 words per key, with the
 * best number g of bits per word from 1 to 8. The field z is the planner's default for the rate. */
static const struct row {
	double fp_rate, classic;
	struct { double bits; unsigned g; } blocked[4];
	unsigned z;
} table[] = {
	{ 0.1, 4.79, { { 5.03, 3 }, { 4.91, 2 }, { 4.89, 1 }, { 5.88, 1 } }, 1 },
	{ 0.03, 7.30, { { 8.35, 4 }, { 7.65, 2 }, { 7.56, 1 }, { 7.96, 1 } }, 2 },
	{ 0.01, 9.59, { { 12.14, 5 }, { 10.27, 3 }, { 10.11, 2 }, { 10.10, 1 } }, 2 },
	{ 0.004, 11.49, { { 16.06, 6 }, { 12.82, 4 }, { 12.17, 2 }, { 12.13, 1 } }, 2 },
	{ 0.001, 14.38, { { 24.00, 7 }, { 17.04, 4 }, { 15.82, 2 }, { 15.72, 1 } }, 4 },
	{ 0.0001, 19.17, { { 45.8, 8 }, { 25.99, 5 }, { 22.56, 3 }, { 22.88, 2 } }, 4 },
	{ 0.00001, 23.96, { { 91.6, 8 }, { 38.3, 6 }, { 31.1, 3 }, { 30.0, 2 } }, 4 },
};

static void assert_near(double value, double wanted, double tolerance, const char *what,
                        double fp_rate)
{
	if (!(fabs(value / wanted - 1) <= tolerance))
		fail_msg("%s at %g: %.9g, wanted %.9g within %g", what, fp_rate, value, wanted,
		         tolerance);
}

/* Return: the smallest number of bits per key for the rate. *best: the g with that number. */
static double best_blocked(double fp_rate, unsigned z, unsigned *best)
{
	double least = 0;
	*best = 0;
	for (unsigned g = 1; g <= weir__blocked_max_g(z); g++) {
		double bits = blocked_bits(fp_rate, z, g);
		if (!*best || bits < least) {
			least = bits;
			*best = g;
		}
	}
	return least;
}

static void sizes_agree_with_the_table(void **state)
{
	(void)state;
	for (size_t r = 0; r < COUNT_OF(table); r++) {
		const struct row *row = &table[r];
		for (size_t i = 0; i < COUNT_OF(words); i++) {
			unsigned listed = row->blocked[i].g;
			assert_near(blocked_bits(row->fp_rate, words[i], listed),
			            row->blocked[i].bits, 0.01, "blocked", row->fp_rate);
			unsigned g;
			double bits = best_blocked(row->fp_rate, words[i], &g);
			if (listed < 8) { /* if g is 8, the best g may be beyond the table */
				assert_int_equal(g, listed);
				assert_near(bits, row->blocked[i].bits, 0.01, "best blocked",
				            row->fp_rate);
			}
			assert_true(bits <= row->blocked[i].bits * 1.01);
		}
	}
}

static struct weir_plan plan_of(const struct weir_params *params)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	assert_ok(weir_plan_make(params, &plan));
	return plan;
}

static void plans_have_the_tables_sizes_and_default(void **state)
{
	(void)state;
	for (size_t r = 0; r < COUNT_OF(table); r++) {
		struct weir_params params = WEIR_PARAMS_INIT;
		params.capacity = 10000000;
		params.fp_rate = table[r].fp_rate;
		struct weir_plan chosen = plan_of(&params);
		assert_int_equal(test_number(&chosen.shape, "words_per_key"), table[r].z);
		/* the reason mentions classic where classic needs less memory */
		assert_true((strstr(chosen.reason, "classic") != NULL) ==
		            (table[r].fp_rate <= 1e-4));
		for (size_t i = 0; i < COUNT_OF(words); i++) {
			params.blocked.words_per_key = words[i];
			struct weir_plan plan = plan_of(&params);
			assert_int_equal(test_number(&plan.shape, "words_per_key"), words[i]);
			assert_true(plan.bits_per_key <= table[r].blocked[i].bits * 1.01);
			assert_near(plan.fp_rate, table[r].fp_rate, 0.01, "plan.fp_rate",
			            table[r].fp_rate);
			if (words[i] == table[r].z) {
				assert_int_equal(plan.bytes, chosen.bytes);
				test_assert_same_shape(&plan.shape, &chosen.shape);
			}
		}
		params.blocked.words_per_key = 0, params.kind = WEIR_CLASSIC;
		assert_near(plan_of(&params).bits_per_key, table[r].classic, 0.01, "classic",
		            table[r].fp_rate);
	}
}

/* ---- the formula, term by term: every term is positive, so rounding errors do not cancel ---- */

/* Compute E[(b/64)^g] into out[0 .. most], where b is the number of distinct bits after 0, g, 2g ..
 * most*g throws into 64 bits. */
static void throw_bits(unsigned g, unsigned most, double *out)
{
	double chance[65] = { 1 };
	for (unsigned w = 0; w <= most; w++) {
		out[w] = 0;
		for (unsigned b = 0; b <= 64; b++)
			out[w] += chance[b] * pow(b / 64.0, g);
		for (unsigned t = 0; t < g; t++)
			for (unsigned b = 64; b <= 64; b--)
				chance[b] = chance[b] * b / 64 +
				            (b ? chance[b - 1] * (65 - b) / 64 : 0);
	}
}

static double rate_by_terms(double bits_per_key, unsigned z, unsigned g)
{
	enum { MOST = 700 };
	static double word[MOST + 1];
	double mean = 512 / bits_per_key, share = z / 8.0, rate = 0;
	unsigned most = (unsigned)(mean + 12 * sqrt(mean) + 20);
	assert_true(most <= MOST);
	throw_bits(g, most, word);
	for (unsigned n = 1; n <= most; n++) {
		double mixed = 0;
		for (unsigned w = 0; w <= n; w++) {
			double log_choose = lgamma(n + 1.0) - lgamma(w + 1.0) - lgamma(n - w + 1.0);
			double log_shares = w * log(share) + (n - w) * log1p(-share);
			double binomial = z == 8 ? w == n : exp(log_choose + log_shares);
			mixed += binomial * word[w];
		}
		rate += exp(-mean + n * log(mean) - lgamma(n + 1.0)) * pow(mixed, z);
	}
	return rate;
}

static void rates_agree_with_the_formula_by_terms(void **state)
{
	static const double bits_per_key[] = { 1.6, 3, 5, 8, 12, 20, 40, 100, 1000, 1e6 };
	(void)state;
	for (size_t i = 0; i < COUNT_OF(words); i++)
		for (unsigned g = 1; g <= weir__blocked_max_g(words[i]); g++)
			for (size_t c = 0; c < COUNT_OF(bits_per_key); c++) {
				double wanted = rate_by_terms(bits_per_key[c], words[i], g);
				if (wanted < 5e-10) /* below the lowest permitted rate */
					continue;
				assert_near(blocked_rate(bits_per_key[c], words[i], g),
				            wanted, 1e-4, "rate", bits_per_key[c]);
			}
}

/* The computed bits are the fewest that keep the rate, over the whole range of rates. */
static void bits_and_rate_are_inverse(void **state)
{
	(void)state;
	for (double fp_rate = 0.5; fp_rate > 0.99e-9; fp_rate /= 1.7) {
		for (size_t i = 0; i < COUNT_OF(words); i++)
			for (unsigned g = 1; g <= weir__blocked_max_g(words[i]); g++) {
				double bits = blocked_bits(fp_rate, words[i], g);
				assert_true(blocked_rate(bits, words[i], g) <= fp_rate);
				assert_true(blocked_rate(bits * 0.9999, words[i], g) >
				            fp_rate);
			}
	}
	/* the rate of a very overfull filter is above the highest permitted rate */
	assert_true(blocked_rate(1e-6, 1, 1) > 0.5);
}

/* The rate without the floor (the rate of equal hashes) equals the textbook formula for every k,
 * (1 - e^(-k / bits per key))^k. */
static void classic_has_the_textbook_s_rate(void **state)
{
	(void)state;
	for (double bits = 2; bits < 300; bits *= 1.3)
		for (uint32_t k = 1; k <= 32; k++) {
			struct weir_params params = WEIR_PARAMS_INIT;
			params.kind = WEIR_CLASSIC, params.classic.probes = k;
			params.capacity = 1000003;
			params.max_bytes = (uint64_t)(1000003 * bits / 8);
			double wanted = pow(-expm1(-(double)k / bits), k);
			struct weir_plan plan = WEIR_PLAN_INIT;
			if (wanted > 0.49 || wanted < 1e-12)
				continue;
			assert_ok(weir_plan_make(&params, &plan));
			assert_int_equal(test_number(&plan.shape, "probes"), k);
			wanted = pow(-expm1(-(double)k / plan.bits_per_key), k);
			assert_near(plan.fp_rate - plan.fp_rate_floor, wanted, 1e-6, "classic",
			            bits);
		}
}

/* ---- lines and shards ---- */

static void lines_are_divided_into_shards(void **state)
{
	uint64_t random = 0;
	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		double bits = exp2((double)(test_random(&random) >> 11) * 0x1p-53 * 49);
		uint32_t shards, same;
		uint64_t lines = weir__lines(bits, 1, 0, &shards);
		assert_true(512.0 * (double)lines >= bits);
		/* the lines exceed the wanted bits by at most 0.1 % and one line */
		assert_true(512.0 * (double)lines <= bits * (1 + 1.0 / 1024) + 512);
		assert_true(shards >= 1 && shards <= 65536 && (shards & (shards - 1)) == 0 &&
		            lines % shards == 0);
		assert_true(shards == 1 || lines / shards >= 1024);
		assert_true(shards == 65536 || lines / shards < 2048);
		/* a valid number of lines is not changed */
		assert_int_equal(weir__lines_within(64 * lines, 1, 0, &same), lines);
		assert_int_equal(same, shards);
		uint64_t fewer = weir__lines_within(64 * lines + 63 + 64 * (i % 5), 1, 0, &same);
		assert_true(fewer >= lines && fewer <= lines + i % 5 && fewer % same == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_agree_with_the_table),
		cmocka_unit_test(plans_have_the_tables_sizes_and_default),
		cmocka_unit_test(rates_agree_with_the_formula_by_terms),
		cmocka_unit_test(bits_and_rate_are_inverse),
		cmocka_unit_test(classic_has_the_textbook_s_rate),
		cmocka_unit_test(lines_are_divided_into_shards),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
