/* SPDX-License-Identifier: MIT
 * The mathematics of layouts whose key touches z words of one block, one in each of z equal groups,
 * and g cells of each: from cells a key to rate and back. A cell is a bit or a counter. */
#ifndef WEIR_SRC_KINDS_COMMON_SECTOR_RATE_H
#define WEIR_SRC_KINDS_COMMON_SECTOR_RATE_H

enum { WEIR_SECTORS_MOST_G = 16 };

struct weir_sectors {
	unsigned words; /* of a block: a power of two */
	unsigned cells; /* of a word: 2 to 64, a power of two */
	unsigned z;     /* words a key: a power of two up to words */
	unsigned g;     /* cells a word: 1 to WEIR_SECTORS_MOST_G */
};

/* The rate at @cells_per_key, as kinds/common/sector_rate.c explains. */
double weir__sectors_rate(double cells_per_key, const struct weir_sectors *s);
/* The least cells a key for a rate of at most @fp_rate. */
double weir__sectors_cells(double fp_rate, const struct weir_sectors *s);

/* Of a filter: the keys that leave a share @fill of @blocks blocks' cells in use, */
double weir__sectors_keys(double fill, double blocks, const struct weir_sectors *s);
/* and the chance that a random absent key of one block is answered true.
 * @used: the cells in use of each word.  @power: (i / cells)^g for i = 0 to cells. */
double weir__sectors_block_rate(const unsigned *used, const double *power,
                                const struct weir_sectors *s);
/* That table. */
void weir__sectors_power(double power[65], const struct weir_sectors *s);

#endif
