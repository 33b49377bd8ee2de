/* SPDX-License-Identifier: MIT
 * The sums that show whether hashes are uniform ([SPREAD]) equal the sums of the plain
 * definition, even if the blocks are counted in several portions. The comparison of pairs of blocks
 * ends early if the first pairs do not suggest that the hashes are uneven. */
#include <math.h>
#include "../test.h"
#include "filter/filter.h"
#include "kind/spread.h"

enum { KEYS = 30000 };

static struct weir_filter *filled(uint32_t kind, uint64_t capacity, uint64_t bits)
{
	struct weir_filter *f = test_filter(kind, capacity, 0.01);
	for (uint64_t i = 0; i < capacity; i++)
		assert_ok(weir_insert_hash(f, test_key(i) & bits));
	return f;
}

static uint64_t word_of(const struct weir_law *law, uint64_t word)
{
	const uint64_t bits = weir__word_load_relaxed(law->base + word * law->word_bits / 64);
	return law->used ? law->used(bits) : law->word_bits == 64 ? bits :
	                                     (uint32_t)(bits >> (32 * (word % 2)));
}

/* The blocks are counted in portions of 1, 2, 4 ... blocks. */
static void each_cell_is_counted_for_every_width(void **state)
{
	static const uint32_t kinds[] = { WEIR_BLOCKED, WEIR_CLASSIC, WEIR_SPLIT, WEIR_COUNTING,
		                          WEIR_FREQUENCY };
	static uint32_t at[WEIR__SPREAD_CELLS];
	static struct weir_spread s;
	struct weir_law law;
	(void)state;
	for (size_t k = 0; k < COUNT_OF(kinds); k++) {
		struct weir_filter *f = filled(kinds[k], KEYS, UINT64_MAX);
		uint64_t whole = 0, squares = 0;
		unsigned crowd = 0;
		assert_true(weir__spread_law(f, &law));
		const unsigned width = law.word_bits / law.cells;
		memset(at, 0, sizeof at);
		for (uint64_t block = 0; block < law.blocks; block++) {
			unsigned used = 0;
			for (unsigned i = 0; i < law.words * law.cells; i++) {
				const uint64_t at_word = block * law.words + i / law.cells;
				const unsigned one = word_of(&law, at_word) >>
				                     i % law.cells * width & 1;
				at[i] += one;
				used += one;
			}
			whole += used;
			squares += (uint64_t)used * used;
			crowd = used > crowd ? used : crowd;
		}
		weir__spread_begin(&s, &law, 1);
		for (uint64_t first = 0, n = 1; first < law.blocks; first += n, n *= 2)
			weir__spread_count(&s, first,
			                   law.blocks - first < n ? law.blocks - first : n);
		assert_int_equal(s.counted, law.blocks);
		assert_int_equal(s.whole, whole);
		assert_int_equal(s.whole_squares, squares);
		assert_int_equal(s.crowd, crowd);
		assert_memory_equal(s.at, at, sizeof at);
		weir_destroy(f);
	}
}

/* There are so few blocks that the measurement compares all pairs. */
static void pairs_of_blocks_are_summed_as_defined(void **state)
{
	struct weir_filter *f = filled(WEIR_SPLIT, 2000, UINT64_MAX);
	double common = 0, common_variance = 0;
	struct weir_spread s;
	struct weir_law law;
	(void)state;
	assert_true(weir__spread_law(f, &law));
	assert_in_range(law.blocks, 65, 95);
	for (uint64_t a = 0; a < law.blocks; a++)
		for (uint64_t b = 0; b < a; b++) {
			double off = 0, variance = 0;
			for (unsigned w = 0; w < 8; w++) {
				const uint64_t one = word_of(&law, 8 * a + w);
				const uint64_t two = word_of(&law, 8 * b + w);
				const double n = __builtin_popcountll(one);
				const double m = __builtin_popcountll(two);
				off += __builtin_popcountll(one & two) - n * m / 32;
				variance += n * (32 - n) * m * (32 - m) / (32 * 32 * 31);
			}
			common += off * off - variance;
			common_variance += variance * (2 * variance + 1);
		}
	weir__spread_begin(&s, &law, law.blocks);
	weir__spread_end(&s);
	assert_true(fabs(s.common - common) < common_variance / 1e5);
	assert_true(fabs(s.common_variance - common_variance) < common_variance / 1e5);
	weir_destroy(f);
}

/* The variance of the sum grows with the number of compared pairs. A comparison of 192 blocks has
 * four times as many pairs as a comparison that ends after 96 blocks. */
static void pairs_that_show_nothing_end_the_comparison(void **state)
{
	double variance[2];
	(void)state;
	for (int few = 0; few < 2; few++) {
		struct weir_filter *f = filled(WEIR_SPLIT, KEYS,
		                               few ? ~UINT64_C(0) << 23 : UINT64_MAX);
		struct weir_spread s;
		struct weir_law law;
		assert_true(weir__spread_law(f, &law));
		weir__spread_begin(&s, &law, law.blocks);
		weir__spread_end(&s);
		variance[few] = s.common_variance;
		weir_destroy(f);
	}
	assert_true(variance[1] > 3 * variance[0]);
}

/* Return: the variance for a filter whose hashes have only @n different lower halves. */
static double variance_of_few(uint64_t seed, uint64_t n)
{
	struct weir_filter *f = test_filter(WEIR_SPLIT, KEYS, 0.01);
	struct weir_spread s;
	struct weir_law law;
	for (uint64_t i = 0; i < KEYS; i++) {
		const uint64_t lower = test_key(seed << 32 | i % n) >> 32;
		assert_ok(weir_insert_hash(f, test_key(seed << 48 | i) >> 32 << 32 | lower));
	}
	assert_true(weir__spread_law(f, &law));
	weir__spread_begin(&s, &law, law.blocks);
	weir__spread_end(&s);
	weir_destroy(f);
	return s.common_variance;
}

/* Over all pairs of blocks, the sum shows that lower halves recur, but the first pairs show this
 * only weakly. The comparison ends early for 19 of the 500 filters. With a threshold of one
 * standard deviation more, it would end early for 109 of them. */
static void pairs_that_show_a_little_continue_the_comparison(void **state)
{
	enum { FILTERS = 500, LOWER_HALVES = 1800, MOST = 40 };
	static double variance[FILTERS];
	double all = 0;
	unsigned early = 0;
	(void)state;
	for (unsigned i = 0; i < FILTERS; i++) {
		variance[i] = variance_of_few(i + 1, LOWER_HALVES);
		all = fmax(all, variance[i]);
	}
	for (unsigned i = 0; i < FILTERS; i++)
		early += variance[i] < 0.85 * all;
	print_message("the look ended early for %u of %u filters\n", early, FILTERS);
	assert_in_range(early, 0, MOST);
}

/* Two blocks are full in the words that the measurement reads first. Only one of these blocks is
 * full in all words, and the measurement must find this block. */
static void the_fullest_of_several_full_words_is_found(void **state)
{
	enum { BLOCKS = 64, WORDS = 8, HALF_FULL = 2, FULL = 5 };
	uint64_t words[BLOCKS * WORDS] = { 0 };
	struct weir_law law = { .base = words, .stride = 1, .blocks = BLOCKS, .words = WORDS,
		                .word_bits = 64, .cells = 64, .z = 1, .g = 1 };
	struct weir_spread s;
	(void)state;
	for (unsigned i = 0; i < WORDS / 2; i++)
		words[WORDS * HALF_FULL + HALF_FULL + i] = UINT64_MAX;
	for (unsigned i = 0; i < WORDS; i++)
		words[WORDS * FULL + i] = UINT64_MAX;
	weir__spread_begin(&s, &law, BLOCKS);
	weir__spread_look(&s, 0, BLOCKS);
	weir__spread_end(&s);
	assert_int_equal(s.crowd, 64 * WORDS);
}

/* ---- keys that are inserted during a measurement ---- */

enum { GROWING_BLOCKS = 1024 };
static uint64_t growing_words[GROWING_BLOCKS];
static unsigned reads_of_words;
static bool insert_keys;

/* At every second read of a word, a key is inserted that differs from all earlier keys. */
static uint64_t insert_and_return(uint64_t word)
{
	const unsigned n = reads_of_words++ / 2;
	if (insert_keys)
		growing_words[n % GROWING_BLOCKS] |= UINT64_C(1) << (16 + n / GROWING_BLOCKS % 48);
	return word;
}

/* The verdict "not uniform" counts only if the bits do not change during the measurement. */
static void there_is_no_verdict_while_keys_are_inserted(void **state)
{
	const struct weir_law law = { .base = growing_words, .stride = 1, .blocks = GROWING_BLOCKS,
		                      .words = 1, .word_bits = 64, .cells = 64, .z = 1, .g = 1,
		                      .used = insert_and_return };
	(void)state;
	for (int come = 0; come < 2; come++) {
		const uint32_t wanted = come ? WEIR_UNEVEN_UNKNOWN : WEIR_UNEVEN_YES;
		const char *why = "";
		for (unsigned i = 0; i < GROWING_BLOCKS; i++)
			growing_words[i] = 0xffff; /* the 16 low bits are set, and no other bits */
		reads_of_words = 0;
		insert_keys = come;
		assert_int_equal(weir__spread_confirm(&law, GROWING_BLOCKS, WEIR_UNEVEN_YES, &why),
		                 wanted);
		assert_int_equal(why != NULL, !come);
		assert_int_equal(weir__spread_judge(&law, GROWING_BLOCKS, &why), wanted);
		assert_int_equal(why != NULL, !come);
	}
}

/* ---- tolerances ---- */

/* The blocks have one word each. There are a billion blocks, so chance adds little to a sum, and
 * only the tolerance decides. */
enum { CELLS = 64, COUNTED = 1000000000 };

static uint32_t verdict_on(const struct weir_spread *s)
{
	const char *why = NULL;
	const uint32_t said = weir__spread_verdict(s, &why);
	assert_int_equal(why != NULL, said == WEIR_UNEVEN_YES);
	return said;
}

/* Return: counts in which the share @share of all cells is used. The share is multiplied by 1 +
 * @off for cells with odd numbers, and by 1 - @off for the other cells. The number of used cells
 * per word has @vary times the variance that uniform hashes would cause. */
static struct weir_spread counted(double share, double off, double vary)
{
	struct weir_spread s = {
		.law = { .blocks = COUNTED, .words = 1, .word_bits = 64, .cells = CELLS, .z = 1,
		         .g = 1 },
		.words = COUNTED,
		.counted = COUNTED,
		.used = (uint64_t)(CELLS * share * COUNTED),
	};
	const double used = CELLS * share, variance = used * (1 - share);
	s.squares = (uint64_t)((used * used + vary * variance) * COUNTED);
	for (unsigned i = 0; i < CELLS; i++)
		s.at[i] = (uint32_t)(share * COUNTED * (i % 2 ? 1 + off : 1 - off));
	return s;
}

/* A cell may be used 4 % more or less often than the average cell, and the number of used cells per
 * word may have 6 % more variance than with uniform hashes. Wider tolerances would accept hashes
 * whose false-positive rate users notice. */
static void the_tolerances_are_exact(void **state)
{
	static const double shares[] = { 0.125, 0.25, 0.5, 0.75 };
	const double off = 0.04 * sqrt((CELLS - 1.0) / CELLS), vary = 1.06;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(shares); i++) {
		struct weir_spread s = counted(shares[i], off * 0.995, 1);
		assert_int_equal(verdict_on(&s), WEIR_UNEVEN_NO);
		s = counted(shares[i], off * 1.005, 1);
		assert_int_equal(verdict_on(&s), WEIR_UNEVEN_YES);
		s = counted(shares[i], 0, vary - 0.005);
		assert_int_equal(verdict_on(&s), WEIR_UNEVEN_NO);
		s = counted(shares[i], 0, vary + 0.005);
		assert_int_equal(verdict_on(&s), WEIR_UNEVEN_YES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cell_is_counted_for_every_width),
		cmocka_unit_test(pairs_of_blocks_are_summed_as_defined),
		cmocka_unit_test(pairs_that_show_nothing_end_the_comparison),
		cmocka_unit_test(pairs_that_show_a_little_continue_the_comparison),
		cmocka_unit_test(the_fullest_of_several_full_words_is_found),
		cmocka_unit_test(there_is_no_verdict_while_keys_are_inserted),
		cmocka_unit_test(the_tolerances_are_exact),
	};
	return cmocka_run_group_tests_name("spread", tests, NULL, NULL);
}
