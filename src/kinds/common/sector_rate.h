/* SPDX-License-Identifier: MIT
 * Layouts in which a key uses z words of one block, one in each of z equal groups, and g cells in
 * each word. A cell is a bit or a counter. The functions compute the rate from the cells a key and
 * back, and choose z and g. */
#ifndef WEIR_SRC_KINDS_COMMON_SECTOR_RATE_H
#define WEIR_SRC_KINDS_COMMON_SECTOR_RATE_H

#include "kind/sizing.h"
#include "kind/spread.h"

enum { WEIR_SECTORS_MOST_G = 16 };

struct weir_sectors {
	unsigned words; /* the number of words in a block, a power of two */
	unsigned cells; /* the number of cells in a word: 2 to 64, a power of two */
	unsigned z;     /* the words that a key uses: a power of two, at most the field words */
	unsigned g;     /* the cells that a key uses in a word: 1 to WEIR_SECTORS_MOST_G */
};

/* Return: the rate at @cells_per_key; kinds/common/sector_rate.c derives it. */
double weir__sectors_rate(double cells_per_key, const struct weir_sectors *s);
/* Return: the fewest cells a key for a rate of at most @fp_rate. */
double weir__sectors_cells(double fp_rate, const struct weir_sectors *s);

/* Return: the number of keys that use a share @fill of the cells of @blocks blocks. */
double weir__sectors_keys(double fill, double blocks, const struct weir_sectors *s);
/* Return: the chance that a random absent key of one block is answered true.
 * @used: the used cells of each word.  @power: (i / cells)^g for i = 0 to cells. */
double weir__sectors_block_rate(const unsigned *used, const double *power,
                                const struct weir_sectors *s);
/* Compute the @power of weir__sectors_block_rate(). */
void weir__sectors_power(double power[65], const struct weir_sectors *s);

/* Return: the law of such a layout in @blocks blocks. */
static inline struct weir_law weir__sectors_law(const struct weir_sectors *s, uint64_t blocks)
{
	return (struct weir_law){ .blocks = blocks, .words = s->words, .word_bits = 64,
		                  .cells = s->cells, .z = s->z, .g = s->g };
}

/* ---- the choice of words a key and of cells a word ---- */

/* The layouts that a kind has. */
struct weir_choices {
	unsigned words, /* the number of words in a block */
		cells; /* the number of cells in a word */
	/* Return the largest g for z, or 0 if the kind lacks layouts with z words a key. */
	unsigned (*most_g)(unsigned cells, unsigned z);
	/* Choose the fewest words a key with which the size is at most slack times the smallest
	 * size. Fewer words make inserts cheaper, since each word takes an atomic access. */
	double slack;
	/* least_words and least_cells must be so small that for each g some layout is within both
	 * limits. If no layout within them has an allowed rate, weir__sectors_choose() ignores
	 * least_cells. If that is not enough, it also ignores least_words. */
	unsigned least_words, /* the fewest words a key; 0: any number */
		least_cells; /* the fewest cells a key; 0: any number */
};

/* Choose a layout.
 * @z, @g: legal numbers that the caller asked for, or 0 to choose.
 * @wanted: a rate, or a number of cells a key in its field bits_per_key. */
struct weir_sectors weir__sectors_choose(const struct weir_choices *choices, unsigned z, unsigned g,
                                         struct weir_wanted wanted);

#endif
