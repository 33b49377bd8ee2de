/* SPDX-License-Identifier: MIT
 * The mathematics of sector_rate.h. No function here allocates, keeps state or fails.
 *
 * A block of B = words * cells cells holds N ~ Poisson(B / cells a key) keys. One of the
 * s = words/z words of a group holds W ~ Binomial(N, 1/s) of them. After W*g throws into c cells, b
 * cells of that word are in use. A lookup of an absent key is answered true with probability
 * E_N[(E_W[E[(b/c)^g]])^z].
 *
 * The inner two means have a closed form, so that a rate is a sum over N only. Let u = c - b be the
 * number of cells still 0. After t throws, j given cells are all 0 with probability (1 - j/c)^t, so
 * E[C(u,j)] = C(c,j) (1 - j/c)^t. And (b/c)^g = (1 - u/c)^g is a linear combination of
 * C(u,0) .. C(u,g). Hence E[(b/c)^g] = sum over j of a[j] (1 - j/c)^t. With t = W*g and the
 * generating function of the binomial distribution this gives
 *
 *     E_W[E[(b/c)^g]] = sum over j of a[j] (1 - (1 - (1 - j/c)^g) / s)^N.
 *
 * The terms cancel each other, which leaves an error of about 1e-13. The values that matter are
 * above 1e-10, even at a rate of 1e-9. */
#include <math.h>
#include <stdbool.h>
#include "kinds/common/sector_rate.h"

enum { MOST_G = WEIR_SECTORS_MOST_G };

/* Compute the a[j] above, one factor (1 - u/c) after another. A factor changes a[] as the inner
 * loop does, since u C(u,j) = j C(u,j) + (j+1) C(u,j+1). */
static void occupancy_terms(const struct weir_sectors *s, double a[])
{
	const double c = s->cells;
	a[0] = 1;
	for (unsigned n = 1; n <= s->g; n++) {
		a[n] = 0;
		for (unsigned j = n; j > 0; j--)
			a[j] = ((c - j) * a[j] - (c + 1 - j) * a[j - 1]) / c;
	}
}

double weir__sectors_rate(double cells_per_key, const struct weir_sectors *s)
{
	const unsigned g = s->g;
	double term[MOST_G + 1], base[MOST_G + 1], rate = 0;
	double mean = (double)s->words * s->cells / cells_per_key;
	/* Beyond this load e^-mean would become 0. Every layout's rate is above 0.7 there, and no
	 * rate above 0.5 is allowed. */
	if (mean > 700)
		mean = 700;
	occupancy_terms(s, term);
	for (unsigned j = 0; j <= g; j++)
		base[j] = 1 - (1 - pow(1 - j / (double)s->cells, g)) * s->z / s->words;
	double chance = exp(-mean);
	for (unsigned n = 1;; n++) { /* an empty block answers false */
		double word = 0;
		chance *= mean / n;
		for (unsigned j = 0; j <= g; j++)
			word += term[j] *= base[j];
		double all = word > 0 ? word : 0;
		for (unsigned i = 1; i < s->z; i *= 2)
			all *= all;
		rate += chance * all;
		if (n > mean && !(chance > 1e-9 * rate))
			return rate;
	}
}

/* Return: log(rate at e^x cells a key / fp_rate). As a function of x it is nearly linear. */
static double excess(double x, double fp_rate, const struct weir_sectors *s)
{
	return log(weir__sectors_rate(exp(x), s) / fp_rate);
}

struct bracket {
	double low, at_low;   /* e^low cells a key are too few, so at_low = excess(low) > 0 */
	double high, at_high; /* e^high cells a key suffice, so at_high = excess(high) <= 0 */
};

/* Return: the cells a key for k independent probes over the whole array, slightly fewer than blocks
 * need. */
static double unblocked(double fp_rate, unsigned k)
{
	return -(double)k / log1p(-pow(fp_rate, 1.0 / k));
}

/* Search from unblocked() outwards, in growing steps. */
static struct bracket bracket_cells(double fp_rate, const struct weir_sectors *s)
{
	double x = log(unblocked(fp_rate, s->z * s->g)), at_x = excess(x, fp_rate, s);
	struct bracket b = { x, at_x, x, at_x };
	for (double step = 0.1; b.at_low <= 0; step *= 2) {
		b.high = b.low, b.at_high = b.at_low;
		b.low -= step, b.at_low = excess(b.low, fp_rate, s);
	}
	for (double step = 0.1; b.at_high > 0; step *= 2) {
		b.low = b.high, b.at_low = b.at_high;
		b.high += step, b.at_high = excess(b.high, fp_rate, s);
	}
	return b;
}

/* Find the cells by false position with the Illinois rule: the value at an end that stays is
 * halved, so that neither end stays for long. */
double weir__sectors_cells(double fp_rate, const struct weir_sectors *s)
{
	const double width = 1e-9;
	struct bracket b = bracket_cells(fp_rate, s);
	for (int moved = 0; b.high - b.low > width;) {
		double x = b.high - b.at_high * (b.high - b.low) / (b.at_high - b.at_low);
		x = fmin(fmax(x, b.low + width / 2), b.high - width / 2);
		double at_x = excess(x, fp_rate, s);
		if (at_x > 0) {
			b.low = x, b.at_low = at_x;
			b.at_high *= moved > 0 ? 0.5 : 1;
			moved = 1;
		} else {
			b.high = x, b.at_high = at_x;
			b.at_low *= moved < 0 ? 0.5 : 1;
			moved = -1;
		}
	}
	return exp(b.high);
}

/* A word gets Poisson(load = keys * z / words) keys, and each key uses g of c cells, with
 * repetition. So a cell stays 0 with probability e^(-load * (1 - ((c-1)/c)^g)). */
double weir__sectors_keys(double fill, double blocks, const struct weir_sectors *s)
{
	double c = s->cells, touched = 1 - pow((c - 1) / c, s->g);
	return -log1p(-fill) / touched * s->words * blocks / s->z;
}

/* Take the mean of (used / cells)^g over the words of each group of the block. Return: the product
 * of these means. */
double weir__sectors_block_rate(const unsigned *used, const double *power,
                                const struct weir_sectors *s)
{
	const unsigned words = s->words / s->z;
	double rate = 1;
	for (unsigned i = 0; i < s->z; i++) {
		double sum = 0;
		for (unsigned w = 0; w < words; w++)
			sum += power[used[i * words + w]];
		rate *= sum / words;
	}
	return rate;
}

void weir__sectors_power(double power[65], const struct weir_sectors *s)
{
	for (unsigned i = 0; i <= s->cells; i++)
		power[i] = pow((double)i / s->cells, s->g);
}

/* ---- the choice of a layout ---- */

static const unsigned words[] = { 1, 2, 4, 8 };
enum { CHOICES = sizeof words / sizeof words[0] };

/* The best g for one number of words a key. */
struct choice {
	unsigned g;  /* 0: no layout with this number of words has the g asked for */
	double cost; /* cells a key if a rate is given, the rate if cells a key are given */
};

static struct choice choose_g(const struct weir_choices *c, unsigned z, unsigned asked,
                              struct weir_wanted wanted)
{
	struct choice best = { 0, 0 };
	const unsigned most = c->most_g(c->cells, z);
	const unsigned first = asked ? asked : 1, last = asked ? asked : most;
	for (unsigned g = first; g <= last && g <= most; g++) {
		const struct weir_sectors s = { c->words, c->cells, z, g };
		if (z < c->least_words || z * g < c->least_cells)
			continue;
		double cost = wanted.fp_rate > 0 ? weir__sectors_cells(wanted.fp_rate, &s) :
		                                   weir__sectors_rate(wanted.bits_per_key, &s);
		if (best.g == 0 || cost < best.cost)
			best = (struct choice){ g, cost };
	}
	return best;
}

/* Find the best g for each number of words. Return: the least cost of all. */
static double choose_each(const struct weir_choices *c, unsigned asked, struct weir_wanted wanted,
                          struct choice choices[CHOICES])
{
	double least = -1;
	for (unsigned i = 0; i < CHOICES; i++) {
		choices[i] = choose_g(c, words[i], asked, wanted);
		if (choices[i].g && (least < 0 || choices[i].cost < least))
			least = choices[i].cost;
	}
	return least;
}

/* Choose a layout. If the size is given instead of a rate, "within slack times the smallest" means
 * that no layout has a lower rate with slack times fewer cells. Return: true if the layout's rate
 * is allowed. */
static bool choose(const struct weir_choices *c, unsigned g, struct weir_wanted wanted,
                   struct weir_sectors *out)
{
	struct choice choices[CHOICES], smaller[CHOICES];
	double least = choose_each(c, g, wanted, choices), most = least * c->slack;
	if (wanted.bits_per_key > 0)
		most = fmax(least, choose_each(c, g, (struct weir_wanted){
			0, wanted.bits_per_key / c->slack }, smaller));
	unsigned i = 0;
	/* The loop ends at the layout with the least cost, or earlier. */
	while (!choices[i].g || choices[i].cost > most)
		i++;
	*out = (struct weir_sectors){ c->words, c->cells, words[i], choices[i].g };
	return wanted.bits_per_key <= 0 || choices[i].cost <= WEIR__MOST_RATE;
}

struct weir_sectors weir__sectors_choose(const struct weir_choices *c, unsigned z, unsigned g,
                                         struct weir_wanted wanted)
{
	struct weir_choices some = *c;
	struct weir_sectors chosen;
	if (z) {
		some.least_words = some.least_cells = 0;
		return (struct weir_sectors){ c->words, c->cells, z,
			                      g ? g : choose_g(&some, z, 0, wanted).g };
	}
	while (!choose(&some, g, wanted, &chosen) && some.least_words + some.least_cells) {
		some.least_words = some.least_cells ? some.least_words : 0;
		some.least_cells = 0;
	}
	return chosen;
}
