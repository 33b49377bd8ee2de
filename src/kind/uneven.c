/* SPDX-License-Identifier: MIT
 * Judges the counts of the test [SPREAD] in spread.h.
 *
 * Let L be the mean number of keys a block (Poisson). A cell is unused with the chance exp(-L a1),
 * and two cells are both unused with the chance exp(-L a2). Here a1 is the chance that a key uses
 * the cell, and a2 that it uses at least one of the two. L follows from the share of used cells.
 *
 * A sum of n squared deviations, over their variance, is about chi-squared with d degrees of
 * freedom. It exceeds d + 2 sqrt(d x) + 2 x with probability exp(-x) at most (Laurent and Massart
 * 2000). If the mean of the counts is small, each pair of keys that meet adds 2 / mean to the sum;
 * pairs_at_most() bounds the number of pairs. The slack allows for deviations that no user would
 * notice, so the law needs to be right only within a few percent. */
#include <math.h>
#include <weir/filter.h>
#include "kind/spread.h"

static const double x = 18; /* chance exceeds a limit with probability exp(-18), 1.5e-8, at most */
static const double slack_blocks = 0.06, slack_cells = 0.04;
static const double fewest_keys = 64;  /* with fewer keys the answer is WEIR_UNEVEN_UNKNOWN */
/* The squared deviations of fewest_words words, over their variance, sum to less than too_even *
 * fewest_words once in 10^13 filters (Chernoff). */
static const double too_even = 0.25, fewest_words = 100;

struct chances {
	double keys;     /* mean number of keys in a block */
	double one;      /* chance that a key uses a given cell of its block */
	double together; /* the covariance of two cells of a word */
	double apart;    /* the covariance of two cells in different groups; between words of one
	                  * group it is 0 */
};

static struct chances chances_of(const struct weir_law *law, double share)
{
	const double s = (double)law->words / law->z, c = law->cells;
	const double one = (1 - pow(1 - 1 / c, law->g)) / s;
	const double two = (1 - pow(1 - 2 / c, law->g)) / s;
	const double keys = -log1p(-share) / one;
	/* the chance that two cells are both unused, if cells were independent */
	const double both = (1 - share) * (1 - share);
	return (struct chances){ keys, one, exp(-keys * two) - both,
		                 both * expm1(keys * one * one) };
}

/* Return: an allowance for the pairs of keys that meet. Their expected number is @expected. A third
 * key that meets two others makes two more pairs, so n rare events make at most n (n + 1) / 2
 * pairs. Chernoff bounds n. With five events or more, the pairs hardly exceed their expected
 * number, for which weir__spread_limit() allows already. An allowance of 20 more pairs then
 * suffices. */
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

static double whole_share(const struct weir_spread *s)
{
	return (double)s->whole / ((double)s->counted * s->law.words * s->law.cells);
}

/* Return: true if the used cells of whole blocks vary too much or too little. If words have few
 * cells, only whole blocks show whether the number of keys in a block is random. */
static bool blocks_vary(const struct weir_spread *s)
{
	const struct weir_law *law = &s->law;
	const double n = (double)s->counted, words = law->words, cells = law->cells;
	const double share = s->whole ? whole_share(s) : 0;
	if (!(share > 0) || share >= 1)
		return false;
	const struct chances c = chances_of(law, share);
	const double sum = (double)s->whole_squares - (double)s->whole * (double)s->whole / n;
	const double each = cells * share * (1 - share) + cells * (cells - 1) * c.together;
	const double variance = words * (each + cells * cells * (words - words / law->z) * c.apart);
	const double spare = words * cells * (1 - share), mean = c.keys;
	if (n > fewest_words && sum / variance < too_even * n)
		return true;
	return n > 1 && sum / variance > weir__spread_limit(n - 1, fmin(mean, spare), slack_blocks);
}

static double square(double a)
{
	return a * a;
}

/* Return: the number of cells that are counted in each word, at most WEIR__SPREAD_CELLS. */
static unsigned counted_of(const struct weir_law *law)
{
	return law->cells < WEIR__SPREAD_CELLS ? law->cells : WEIR__SPREAD_CELLS;
}

/* Return: the sum over all cells of the squared deviation from the mean of their word. */
static double deviations(const struct weir_spread *s)
{
	const unsigned cells = counted_of(&s->law);
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
	const double n = (double)s->counted, cells = counted_of(law), words = law->words;
	double used = 0;
	for (unsigned i = 0; i < law->words * counted_of(law); i++)
		used += s->at[i];
	const double share = used / (n * words * cells);
	if (!(n > 0) || !(share > 0) || share >= 1)
		return false;
	const struct chances c = chances_of(law, share);
	const double variance = share * (1 - share) - c.together; /* from the mean of its word */
	const double slack = n * square(slack_cells * share) / variance;
	return deviations(s) / (n * variance) >
	       weir__spread_limit(words * (cells - 1), n * fmin(share, 1 - share), slack);
}

/* Return: true if some bit is set in too few or too many fingerprints. A key with copies in both of
 * its blocks may count twice, so the counts vary more than binomial counts. The limit is nine
 * binomial standard deviations. */
static bool prints_alike(const struct weir_spread *s)
{
	const double n = s->partners;
	for (unsigned bit = 0; bit < s->law.print_bits; bit++)
		if (fabs(s->ones[bit] - n / 2) > 9 * sqrt(n) / 2)
			return true;
	return false;
}

/* Return: true if more keys share a partner than by chance. A full block displaces keys, and is the
 * partner of each of them. So keys of a full filter share a partner 1.3 times as often as by
 * chance. */
static bool partners_meet(const struct weir_spread *s)
{
	const double mean = s->meetings_mean, blocks = (double)s->law.blocks;
	return (double)s->meetings > mean * (1.4 + 10 / sqrt(blocks)) + 8 * sqrt(mean) + 20;
}

/* ---- the fullest block ---- */

/* Return: an upper bound of the mean of exp(t * used cells of a word) / exp(t * @cells), if the
 * block has @keys keys. A key is in the word or not. The cells of a word's keys are negatively
 * associated, as are the words of a group, and groups are independent of each other (Joag-Dev,
 * Proschan 1983). So the mean of the product over cells, and over words, is at most the product of
 * the means. */
static double word_power(const struct weir_law *law, double keys, double t, double cells)
{
	const double in = (double)law->z / law->words, miss = law->g * log1p(-1.0 / law->cells);
	double chance = in < 1 ? keys * log1p(-in) : 0, sum = 0;
	for (double m = in < 1 ? 0 : keys; m <= keys; m++) {
		const double cell = log1p(-expm1(m * miss) * expm1(t)); /* a cell's mean of exp(t *
		                                                           used) */
		sum += exp(chance + law->cells * cell - t * cells);
		chance += log((keys - m) / (m + 1) * in / (1 - in));
	}
	return sum;
}

/* Return: the logarithm of an upper bound (Markov) of the chance that @keys keys use @crowd cells
 * of their block. */
static double crowd_chance(const struct weir_law *law, double keys, double crowd)
{
	double least = 0, now = 0;
	for (double t = 0.25; t <= 16 && now <= least; t *= 2) {
		now = law->words * log(word_power(law, keys, t, crowd / law->words));
		least = fmin(least, now);
	}
	return least;
}

/* Return: true if a block with s->crowd used cells is rarer than once in exp(x) filters. The sum is
 * over intervals of the block's number of keys. The term of an interval is the chance that the
 * block has at least the interval's first number of keys (Chernoff), times the chance that its last
 * number of keys uses s->crowd cells. A sample may by chance show too few keys, so the mean gets a
 * margin. */
static bool crowded(const struct weir_spread *s, const struct chances *c)
{
	const struct weir_law *law = &s->law;
	const double looked = (double)s->words * law->z / law->words;
	const bool whole = s->whole && (double)s->counted > looked;
	const double keys_seen = whole ? chances_of(law, whole_share(s)).keys : c->keys;
	const double seen = whole ? (double)s->counted : looked;
	const double mean = keys_seen + (2 * sqrt(x * keys_seen * seen) + 2 * x) / seen;
	const double rare = x + log((double)law->blocks), step = ceil(sqrt(mean) / 2);
	double chance = 0, sum = exp(-rare);
	if (law->apart || s->crowd <= -expm1(mean * log1p(-c->one)) * law->words * law->cells)
		return false;
	for (double keys = ceil(mean); chance > -rare && sum < 2 * exp(-rare); keys += step) {
		sum += exp(chance + crowd_chance(law, keys + step, s->crowd));
		chance = -((keys + step) * log((keys + step) / mean) - keys - step + mean);
	}
	return sum < 2 * exp(-rare);
}

/* Return: true if some pairs of blocks have many cells in common, and others few. The pairs are
 * uncorrelated, so their sum is chi-squared less its mean. With few pairs the variance of a single
 * pair matters; it is at most 17. With few keys, two keys share six of eight cells once in exp(18)
 * pairs. If look_at_pairs() ends early, its sum is far below this limit, so an early end does not
 * raise the false-alarm rate. */
static bool blocks_alike(const struct weir_spread *s)
{
	return s->common > sqrt(2 * x * s->common_variance) + 2 * x * 17 + 4 * x;
}

static const char in_lines[] = "some lines hold far more keys than others, or all as many, as if "
                               "the hashes were alike in the top bits: " WEIR__UNEVEN_REMEDY;
static const char in_bits[] = "some bits of a line are set far more often than others, as if the "
                              "hashes were alike in the low bits: " WEIR__UNEVEN_REMEDY;

uint32_t weir__spread_verdict(const struct weir_spread *s, const char **why)
{
	const double share = (double)s->used / ((double)s->words * s->law.cells);
	if (!s->used || share >= 1)
		return WEIR_UNEVEN_UNKNOWN;
	const struct chances c = chances_of(&s->law, share);
	if (words_vary(s, &c, share) || blocks_vary(s) || partners_meet(s) || crowded(s, &c)) {
		*why = in_lines;
		return WEIR_UNEVEN_YES;
	}
	if (cells_differ(s) || prints_alike(s) || blocks_alike(s)) {
		*why = in_bits;
		return WEIR_UNEVEN_YES;
	}
	if (c.keys * (double)s->words / s->law.words * s->law.z < fewest_keys || share > 0.97)
		return WEIR_UNEVEN_UNKNOWN;
	return WEIR_UNEVEN_NO;
}
