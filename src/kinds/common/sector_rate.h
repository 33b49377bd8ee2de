/* SPDX-License-Identifier: MIT
 * Layouts whose key touches z words of one block, one in each of z equal groups, and g cells in
 * each word. A cell is a bit or a counter. Their mathematics, from cells a key to the rate and
 * back; and the choice of z and g. */
#ifndef WEIR_SRC_KINDS_COMMON_SECTOR_RATE_H
#define WEIR_SRC_KINDS_COMMON_SECTOR_RATE_H

#include "kind/sizing.h"
#include "kind/spread.h"

enum { WEIR_SECTORS_MOST_G = 16 };

struct weir_sectors {
	unsigned words; /* of a block: a power of two */
	unsigned cells; /* of a word: 2 to 64, a power of two */
	unsigned z;     /* words a key: a power of two up to words */
	unsigned g;     /* cells a word: 1 to WEIR_SECTORS_MOST_G */
};

/* The rate at @cells_per_key; kinds/common/sector_rate.c explains it. */
double weir__sectors_rate(double cells_per_key, const struct weir_sectors *s);
/* The fewest cells a key for a rate of at most @fp_rate. */
double weir__sectors_cells(double fp_rate, const struct weir_sectors *s);

/* The number of keys that leave a share @fill of the cells of @blocks blocks in use. */
double weir__sectors_keys(double fill, double blocks, const struct weir_sectors *s);
/* The chance that a random absent key of one block is answered true.
 * @used: the used cells of each word.  @power: (i / cells)^g for i = 0 to cells. */
double weir__sectors_block_rate(const unsigned *used, const double *power,
                                const struct weir_sectors *s);
/* Fills in @power for the function above. */
void weir__sectors_power(double power[65], const struct weir_sectors *s);

/* The law of such a layout in @blocks blocks. */
static inline struct weir_law weir__sectors_law(const struct weir_sectors *s, uint64_t blocks)
{
	return (struct weir_law){ .blocks = blocks, .words = s->words, .word_bits = 64,
		                  .cells = s->cells, .z = s->z, .g = s->g };
}

/* ---- the choice of words a key and of cells a word ---- */

/* The layouts that a kind has. */
struct weir_choices {
	unsigned words, cells; /* of a block; of a word */
	/* The largest g for z; 0: the kind lacks layouts with z words a key. */
	unsigned (*most_g)(unsigned cells, unsigned z);
	/* Fewer words make inserts cheaper, since each word takes an atomic access. Take the layout
	 * with the fewest words whose size is at most slack times the smallest. */
	double slack;
	/* The fewest words a key, and the fewest cells in all of them. Both must be small enough
	 * that each g has a layout. If no such layout has an allowed rate, first the cells are
	 * waived, then the words. 0: any number. */
	unsigned least_words, least_cells;
};

/* @z, @g: as asked for, each legal; 0: to be chosen.
 * @wanted: a rate, or "bits" a key, which are cells here.
 * Return: the layout. */
struct weir_sectors weir__sectors_choose(const struct weir_choices *choices, unsigned z, unsigned g,
                                         struct weir_wanted wanted);

#endif
