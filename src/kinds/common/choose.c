/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdbool.h>
#include "kinds/common/choose.h"

static const unsigned words[] = { 1, 2, 4, 8 };
enum { CHOICES = sizeof words / sizeof words[0] };

/* The best g for one number of words. */
struct choice {
	unsigned g;  /* 0: no layout with these words has the g that was asked for */
	double cost; /* cells a key for the rate wanted, or the rate for the cells a key wanted */
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

/* The best g for each number of words. Return: the least cost of all. */
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

/* If the size is given instead of a rate, "at most so many times the smallest" means that no layout
 * has a lower rate with so many times fewer cells. Return: whether its rate is one that a filter
 * may have. */
static bool choose(const struct weir_choices *c, unsigned g, struct weir_wanted wanted,
                   struct weir_sectors *out)
{
	struct choice choices[CHOICES], smaller[CHOICES];
	double least = choose_each(c, g, wanted, choices), most = least * c->slack;
	if (wanted.bits_per_key > 0)
		most = fmax(least, choose_each(c, g, (struct weir_wanted){
			0, wanted.bits_per_key / c->slack }, smaller));
	unsigned i = 0;
	/* This ends at the least cost. */
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
