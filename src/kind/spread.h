/* SPDX-License-Identifier: MIT
 * Are the hashes of a filter's keys uniform? The cells that they filled show it.
 *
 * [SPREAD] Under the kind's law a block gets a Poisson number of keys, and each key picks its words
 * and cells alike. So two sums have a known mean and variance, whichever keys there are, however
 * often each was inserted, and also after removals, merges and folds:
 *   - of words, one from each block: how the numbers of their used cells vary. Hashes that differ
 *     too little in their top bits fill some blocks and leave others empty;
 *   - of each cell of a word: in how many blocks it is used. Hashes whose low bits are constant
 *     use some cells far more often than others.
 * Where keys move between two blocks, few of them have one partner block in common, and half of
 * their fingerprints have each bit. */
#ifndef WEIR_SRC_KIND_SPREAD_H
#define WEIR_SRC_KIND_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

struct weir_array;
struct weir_filter;

/* How a key's cells lie. A block has words of 64 bits, or of 32. */
struct weir_law {
	uint64_t blocks;
	unsigned words;     /* of a block */
	unsigned word_bits; /* 64 or 32 */
	unsigned cells;     /* of a word */
	unsigned z, g;      /* a key uses g cells, drawn with replacement, in each of z words, one
	                       of each of z equal groups */
	/* One bit for each cell in use, at its lowest bit. NULL: the word itself. */
	uint64_t (*used)(uint64_t word);
	/* Kinds whose keys move alone; else NULL. A key has one cell, any of its word, so the
	 * variance is Poisson's at most. The key in that cell has this other block, and this
	 * fingerprint of print_bits. */
	uint64_t (*partner)(const struct weir_array *a, uint64_t block, unsigned cell,
	                    unsigned *print);
	unsigned print_bits;
};

enum { WEIR__SPREAD_PARTNERS = 256, WEIR__SPREAD_CELLS = 512 }; /* cells of a block, at most */

struct weir_spread {
	struct weir_law law;
	uint64_t words; /* that were looked at, one of a block */
	uint64_t used, squares; /* the sum of their used cells, and of the squares */
	uint64_t step;    /* of each so many blocks the first is counted */
	uint64_t counted; /* blocks whose cells were counted one by one: */
	uint32_t at[WEIR__SPREAD_CELLS];
	unsigned partners; /* in place of that: the other blocks of some keys, and how many of their
	                      fingerprints have each bit */
	uint64_t partner[WEIR__SPREAD_PARTNERS];
	unsigned ones[16];
};

/* Begin with nothing looked at.  @lines: that will be.  Return: false, the kind has no law, and
 * nothing can be said. */
bool weir__spread_begin(struct weir_spread *s, const struct weir_filter *f, uint64_t lines);
/* Look at one word of each of n blocks from first on. Others may insert meanwhile. */
void weir__spread_look(struct weir_spread *s, const struct weir_filter *f, uint64_t first,
                       uint64_t n);
/* Count the cells of some of those, some hundred in all. */
void weir__spread_count(struct weir_spread *s, const struct weir_filter *f, uint64_t first,
                        uint64_t n);
/* At last: look at all words of a few blocks at either end, of many, and count their cells. */
void weir__spread_ends(struct weir_spread *s, const struct weir_filter *f);

/* @why: receives a sentence if they are uneven.  Return: enum weir_uneven. With uniform hashes it
 * is WEIR_UNEVEN_YES once in a million filters at most. */
uint32_t weir__spread_verdict(const struct weir_spread *s, const char **why);

/* Count bits in binary: bit i of plane p counts 2^p. Their number stays below 2^planes. */
static inline void weir__planes_add(uint64_t *plane, uint64_t bits)
{
	for (; bits; plane++) {
		const uint64_t carry = *plane & bits;
		*plane ^= bits;
		bits = carry;
	}
}

static inline uint32_t weir__planes_read(const uint64_t *plane, unsigned planes, unsigned bit)
{
	uint32_t n = 0;
	for (unsigned p = 0; p < planes; p++)
		n += (uint32_t)(plane[p] >> bit & 1) << p;
	return n;
}

/* The most that a sum of squared deviations, each over its variance, may be with that many degrees
 * of freedom.  @mean: of a count, in keys.  @slack: the relative error allowed in each variance. */
double weir__spread_limit(double freedom, double mean, double slack);

#endif
