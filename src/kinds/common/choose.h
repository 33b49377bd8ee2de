/* SPDX-License-Identifier: MIT
 * The choice of words a key and of cells a word, for kinds whose layouts are those of
 * kinds/common/sector_rate.h. */
#ifndef WEIR_SRC_KINDS_COMMON_CHOOSE_H
#define WEIR_SRC_KINDS_COMMON_CHOOSE_H

#include "kind/sizing.h"
#include "kinds/common/sector_rate.h"

/* The layouts that a kind has. */
struct weir_choices {
	unsigned words, cells; /* of a block, of a word */
	/* The largest g for z; 0: there is no layout of so many words a key. */
	unsigned (*most_g)(unsigned cells, unsigned z);
	/* Fewer words make inserts cheaper, since each word takes an atomic access: of the layouts
	 * whose size is at most so many times the smallest, the one with the fewest is taken. */
	double slack;
	/* Words a key, and cells in all of them, that are wanted at least: so few that there is a
	 * layout of each g. Where none of so many has a rate that a filter may have, first the
	 * cells, then the words are waived. 0: any number will do. */
	unsigned least_words, least_cells;
};

/* @z, @g: as asked for, a legal number each; 0: to be chosen.
 * @wanted: a rate, or "bits" a key that are cells.
 * Return: the layout. */
struct weir_sectors weir__sectors_choose(const struct weir_choices *choices, unsigned z, unsigned g,
                                         struct weir_wanted wanted);

#endif
