/* SPDX-License-Identifier: MIT
 * [SPREAD], from sums to a verdict.
 *
 * With L keys a block, Poisson, P0 = exp(-L a1) is the chance that a cell is not used, and
 * exp(-L a2) that neither of two is. 1 - a1 and 1 - a2 are the chances that a key uses the one, or
 * at least one of the two. L follows from the share of used cells.
 *
 * A sum of n squared deviations, over their variance, is about chi-squared with d degrees of
 * freedom. Laurent and Massart (2000): it exceeds d + 2 sqrt(d x) + 2 x with probability exp(-x) at
 * most. Where the mean of the counts is small, it grows by 2 / mean with each pair of keys that
 * meet: pairs_at_most() bounds their number. What no user would notice is allowed beside it, so
 * that a law which is right to some percent will do. */
#include "kind/spread.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kind/kind.h"

static const double x = 18; /* exp(-18) is 1.5e-8 */
static const double slack_blocks = 0.06, slack_cells = 0.04;
static const double fewest_keys = 64;  /* of fewer nothing is said */
/* A chi-squared sum of so many words is below that share of them once in 10^13 (Chernoff). */
static const double too_even = 0.25, fewest_words = 100;

bool weir__spread_begin(struct weir_spread *s, const struct weir_filter *f, uint64_t lines)
{
	enum { COUNTED = 256 };
	const double share = fmin(1, (double)lines / (double)f->array.lines);
	memset(s, 0, sizeof *s);
	if (!f->kind->law || !f->kind->law(f, &s->law))
		return false;
	s->step = (uint64_t)(share * (double)s->law.blocks) / COUNTED + 1;
	return true;
}

static inline uint64_t used_of(const struct weir_law *law, const struct weir_filter *f,
                               uint64_t word)
{
	const unsigned per = 64 / law->word_bits;
	uint64_t bits = weir__word_load_relaxed(f->array.words + word / per);
	if (per == 2)
		bits = bits >> (32 * (word % 2)) & UINT32_MAX;
	return law->used ? law->used(bits) : bits;
}

/* Inline: the compiler's own is a call, unless it may use the instruction. */
static inline uint64_t ones_of(uint64_t b)
{
	b -= b >> 1 & UINT64_C(0x5555555555555555);
	b = (b & UINT64_C(0x3333333333333333)) + (b >> 2 & UINT64_C(0x3333333333333333));
	b = (b + (b >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return b * UINT64_C(0x0101010101010101) >> 56;
}

static inline void look(struct weir_spread *s, const struct weir_filter *f, uint64_t word)
{
	const uint64_t cells = ones_of(used_of(&s->law, f, word));
	s->used += cells;
	s->squares += cells * cells;
	s->words++;
}

/* Of one key of the block, as long as there is room. */
static void note_partner(struct weir_spread *s, const struct weir_filter *f, uint64_t block)
{
	const struct weir_law *law = &s->law;
	const uint64_t bits = used_of(law, f, block);
	const unsigned width = law->word_bits / law->cells;
	unsigned print;
	if (!bits)
		return;
	s->partner[s->partners++] = law->partner(&f->array, block,
	                                         (unsigned)__builtin_ctzll(bits) / width, &print);
	for (unsigned bit = 0; bit < law->print_bits; bit++)
		s->ones[bit] += print >> bit & 1;
}

void weir__spread_look(struct weir_spread *s, const struct weir_filter *f, uint64_t first,
                       uint64_t n)
{
	const unsigned words = s->law.words;
	if (words == 8 && s->law.word_bits == 64 && !s->law.used) { /* the most frequent: faster */
		uint64_t used = 0, squares = 0;
		for (uint64_t block = first; block < first + n; block++) {
			const uint64_t *word = f->array.words + 8 * block + block % 8;
			const uint64_t ones = ones_of(weir__word_load_relaxed(word));
			used += ones;
			squares += ones * ones;
		}
		s->used += used;
		s->squares += squares;
		s->words += n;
		return;
	}
	for (uint64_t block = first; block < first + n; block++) {
		look(s, f, block * words + block % words);
		if (s->law.partner && s->partners < WEIR__SPREAD_PARTNERS)
			note_partner(s, f, block);
	}
}

/* Blocks are counted in portions that the planes have room for; few of them bit by bit. */
enum { PLANES = 8, PORTION = (1 << PLANES) - 1, FEW = 16 };

static void count_word(struct weir_spread *s, const struct weir_filter *f, uint64_t first,
                       uint64_t n, unsigned w)
{
	const struct weir_law *law = &s->law;
	const unsigned width = law->word_bits / law->cells;
	uint32_t *at = s->at + w * law->cells;
	uint64_t plane[PLANES] = { 0 };
	for (uint64_t i = 0; i < n; i++) {
		uint64_t bits = used_of(law, f, (first + i * s->step) * law->words + w);
		for (; n < FEW && bits; bits &= bits - 1)
			at[(unsigned)__builtin_ctzll(bits) / width]++;
		weir__planes_add(plane, bits);
	}
	for (unsigned i = 0; n >= FEW && i < law->cells; i++)
		at[i] += weir__planes_read(plane, PLANES, i * width);
}

void weir__spread_count(struct weir_spread *s, const struct weir_filter *f, uint64_t first,
                        uint64_t n)
{
	const uint64_t step = s->step, from = (first + step - 1) / step * step;
	if (s->law.partner || from >= first + n)
		return;
	const uint64_t blocks = (first + n - from - 1) / step + 1;
	for (unsigned w = 0; w < s->law.words; w++)
		for (uint64_t at = 0; at < blocks; at += PORTION)
			count_word(s, f, from + at * step,
			           blocks - at < PORTION ? blocks - at : PORTION, w);
	s->counted += blocks;
}

/* The words of a block have more or less keys together: of so few blocks that makes nothing. */
void weir__spread_ends(struct weir_spread *s, const struct weir_filter *f)
{
	enum { MANY = 1024, WHOLE = 8, COUNTED = 64 };
	const uint64_t words = s->law.blocks * s->law.words, ends = WHOLE * s->law.words;
	for (uint64_t word = 0; s->law.blocks >= MANY && word < ends; word++) {
		look(s, f, word);
		look(s, f, words - 1 - word);
	}
	if (s->law.blocks < MANY)
		return;
	s->step = 1;
	weir__spread_count(s, f, 0, COUNTED);
	weir__spread_count(s, f, s->law.blocks - COUNTED, COUNTED);
}

/* ---- the verdict ---- */

struct chances {
	double keys;     /* a block */
	double together; /* the covariance of two cells of a word */
};

static struct chances chances_of(const struct weir_law *law, double share)
{
	const double s = (double)law->words / law->z, c = law->cells;
	const double one = (1 - pow(1 - 1 / c, law->g)) / s;
	const double two = (1 - pow(1 - 2 / c, law->g)) / s;
	const double keys = -log1p(-share) / one;
	return (struct chances){ keys, exp(-keys * two) - (1 - share) * (1 - share) };
}

/* Of keys that meet, where @expected pairs do, Poisson. A third key that meets two makes two pairs
 * more, so n rare events make n (n + 1) / 2 pairs at most. Chernoff bounds their number; of many
 * events the pairs are hardly more. */
static double pairs_at_most(double expected)
{
	double n = 1;
	while (n < 5 && n * (log(n / expected) - 1) + expected < x)
		n += 0.25;
	return n < 5 ? n * (n + 1) / 2 : 20;
}

double weir__spread_limit(double freedom, double mean, double slack)
{
	const double pairs = pairs_at_most(mean * mean * (freedom + 1) / 2);
	return freedom * (1 + slack) + 2 * sqrt(x * freedom) + 2 * x + 2 * pairs / mean;
}

static bool words_vary(const struct weir_spread *s, const struct chances *c, double share)
{
	const double n = (double)s->words, cells = s->law.cells;
	const double sum = (double)s->squares - (double)s->used * (double)s->used / n;
	const double spare = cells * (1 - share);
	const double mean = cells * share / s->law.g;
	const double variance = s->law.partner ? cells * share :
	                        cells * share * (1 - share) + cells * (cells - 1) * c->together;
	if (n > fewest_words && !s->law.partner && sum / variance < too_even * n)
		return true;
	return n > 1 && sum / variance > weir__spread_limit(n - 1, fmin(mean, spare), slack_blocks);
}

static double square(double a)
{
	return a * a;
}

/* The sum over all cells, beside the mean of their word. */
static double deviations(const struct weir_spread *s)
{
	const unsigned cells = s->law.cells;
	double out = 0;
	for (unsigned w = 0; w < s->law.words; w++) {
		const uint32_t *at = s->at + w * cells;
		double sum = 0;
		for (unsigned i = 0; i < cells; i++)
			sum += at[i];
		for (unsigned i = 0; i < cells; i++)
			out += square(at[i] - sum / cells);
	}
	return out;
}

static bool cells_differ(const struct weir_spread *s)
{
	const struct weir_law *law = &s->law;
	const double n = (double)s->counted, cells = law->cells, words = law->words;
	double used = 0;
	for (unsigned i = 0; i < law->words * law->cells; i++)
		used += s->at[i];
	const double share = used / (n * words * cells);
	if (!(n > 0) || !(share > 0) || share >= 1)
		return false;
	const struct chances c = chances_of(law, share);
	const double variance = share * (1 - share) - c.together; /* beside the word's mean */
	const double slack = n * square(slack_cells * share) / variance;
	return deviations(s) / (n * variance) >
	       weir__spread_limit(words * (cells - 1), n * fmin(share, 1 - share), slack);
}

static int compare(const void *a, const void *b)
{
	const uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;
	return one < two ? -1 : one > two;
}

/* Do the fingerprints differ too little? One that is in both of its blocks may count twice, so
 * their number has a larger variance: nine standard deviations of the plain one are enough. */
static bool prints_alike(const struct weir_spread *s)
{
	const double n = s->partners;
	for (unsigned bit = 0; bit < s->law.print_bits; bit++)
		if (fabs(s->ones[bit] - n / 2) > 9 * sqrt(n) / 2)
			return true;
	return false;
}

/* Do more keys have one partner than chance gives? */
static bool partners_meet(const struct weir_spread *s)
{
	const double n = s->partners, blocks = (double)s->law.blocks, mean = n * n / 2 / blocks;
	uint64_t sorted[WEIR__SPREAD_PARTNERS], alike = 0, pairs = 0;
	memcpy(sorted, s->partner, s->partners * sizeof sorted[0]);
	qsort(sorted, s->partners, sizeof sorted[0], compare);
	for (unsigned i = 1; i < s->partners; i++) {
		alike = sorted[i] == sorted[i - 1] ? alike + 1 : 0;
		pairs += alike;
	}
	return (double)pairs > mean * (1 + 10 / sqrt(blocks)) + 8 * sqrt(mean) + 20;
}

static const char in_lines[] = "some lines hold far more keys than others, or all as many, as if "
                               "the hashes were alike in the top bits: give such hashes to the "
                               "_u64 verbs, which mix them";
static const char in_bits[] = "some bits of a line are set far more often than others, as if the "
                              "hashes were alike in the low bits: give such hashes to the _u64 "
                              "verbs, which mix them";

uint32_t weir__spread_verdict(const struct weir_spread *s, const char **why)
{
	const double share = (double)s->used / ((double)s->words * s->law.cells);
	if (!s->used || share >= 1)
		return WEIR_UNEVEN_UNKNOWN;
	const struct chances c = chances_of(&s->law, share);
	if (words_vary(s, &c, share) || partners_meet(s)) {
		*why = in_lines;
		return WEIR_UNEVEN_YES;
	}
	if (cells_differ(s) || prints_alike(s)) {
		*why = in_bits;
		return WEIR_UNEVEN_YES;
	}
	if (c.keys * (double)s->words / s->law.words * s->law.z < fewest_keys || share > 0.97)
		return WEIR_UNEVEN_UNKNOWN;
	return WEIR_UNEVEN_NO;
}
