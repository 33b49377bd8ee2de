/* SPDX-License-Identifier: MIT
 * Are the hashes of a filter's keys uniform? The used cells show it.
 *
 * [SPREAD] Under the kind's law a block gets a Poisson number of keys, and each key picks its words
 * and cells uniformly. So two sums have a known mean and variance, whatever the keys, however often
 * each was inserted, and also after removals, merges and folds:
 *   - over words, one from each block: the variance of their used cells. Hashes that differ
 *     too little in their top bits fill some blocks and leave others empty;
 *   - over the cells of a word: the number of blocks in which each is used. Hashes with constant
 *     low bits use some cells far more often than others.
 * Two more tests find deviations that those sums average out:
 *   - the fullest block: identifiers among well-mixed hashes share a block;
 *   - pairs of blocks: the number of cells that two have in common. Keys whose low bits have few
 *     values use the same cells of their blocks.
 * If keys move between two blocks, few keys share a partner block, and each bit is set in half of
 * their fingerprints. */
#ifndef WEIR_SRC_KIND_SPREAD_H
#define WEIR_SRC_KIND_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

struct weir_array;
struct weir_filter;

/* How a key's cells lie. A block has words of 64 or 32 bits. */
struct weir_law {
	const uint64_t *base; /* the blocks' 64-bit word i is base[i * stride] */
	uint64_t stride;
	uint64_t blocks;
	unsigned words;     /* of a block: a power of two */
	unsigned word_bits; /* 64 or 32 */
	unsigned cells;     /* of a word */
	unsigned z, g;      /* a key uses g cells, drawn with replacement, in each of z words, one
	                     * from each of z equal groups */
	/* One bit for each cell in use, at its lowest bit. NULL: the word itself. */
	uint64_t (*used)(uint64_t word);
	/* Each cell of a key lies in a different block, as if it were a key of its own. So a full
	 * block makes no key present, and a crowded one does no harm. */
	bool apart;
	/* The upper half of a hash chooses the block, and only the lower half its cells. A block
	 * has eight words of 32 cells. */
	bool halves;
	/* For kinds whose keys move; else NULL. A key has one cell, anywhere in its word, so the
	 * variance is at most Poisson's. Returns the other block of @block's first key, and its
	 * fingerprint of print_bits bits in @print; 0: the block has no key. */
	uint64_t (*partner)(const struct weir_array *a, uint64_t block, unsigned *print);
	unsigned print_bits;
	const struct weir_array *array; /* for partner() */
};

/* The blocks to look at in a save, and to confirm WEIR_UNEVEN_YES: in a large array a quarter. */
static inline uint64_t weir__spread_enough(const struct weir_law *law)
{
	return law->blocks > 1 << 20 ? law->blocks / 4 : law->blocks;
}

enum { WEIR__SPREAD_CELLS = 512, WEIR__SPREAD_WORDS = 64 }; /* of a block, at most */

struct weir_spread {
	struct weir_law law;
	uint64_t words; /* looked at, one of each block */
	uint64_t used, squares; /* the sum of their used cells, and of the squares */
	uint64_t fullest; /* the block whose words looked fullest */
	unsigned score, notable; /* its used cells up to the first word that is not full; the cells
	                          * that make a word worth noting */
	unsigned crowd; /* the used cells of that block, or of a fuller counted one */
	uint64_t step;    /* the first of each step blocks is counted */
	uint64_t counted; /* blocks counted, cell by cell and as a whole */
	uint32_t at[WEIR__SPREAD_CELLS];
	uint64_t whole, whole_squares;
	/* Over pairs of blocks: the sum of the squared deviation of the number of cells in common,
	 * less its mean, and the variance of that sum. */
	double common, common_variance;
	/* For kinds with partner(), instead: the keys whose other block was looked at, the pairs of
	 * them with the same one, and how many of their fingerprints have each bit. */
	unsigned partners;
	uint64_t meetings;
	double meetings_mean;
	unsigned ones[16];
};

/* The end of each sentence about such hashes. A caller that mixes the hashes only on insert would
 * find none of its keys. */
#define WEIR__UNEVEN_REMEDY "give such hashes to the _u64 verbs, which mix them, and look up by " \
                            "those too"

/* Return: false if the kind has no law, so nothing can be said. */
bool weir__spread_law(const struct weir_filter *f, struct weir_law *law);
/* Begin with nothing looked at.  @blocks: the number to come. */
void weir__spread_begin(struct weir_spread *s, const struct weir_law *law, uint64_t blocks);
/* Look at one word of each of n blocks from first on. Other threads may insert at the same time. */
void weir__spread_look(struct weir_spread *s, uint64_t first, uint64_t n);
/* Count the cells of some of those blocks, a few hundred in all. */
void weir__spread_count(struct weir_spread *s, uint64_t first, uint64_t n);
/* The last step. Looks at all words of a few blocks at both ends of a large array, and counts their
 * cells; at all of the fullest block; and at pairs of blocks, or partners, from all over the
 * array. */
void weir__spread_end(struct weir_spread *s);

/* @why: receives a sentence if the hashes are uneven.  Return: enum weir_uneven. Uniform hashes
 * give WEIR_UNEVEN_YES at most once in a million filters. */
uint32_t weir__spread_verdict(const struct weir_spread *s, const char **why);

/* All steps above, on about @most blocks, in whole pages from all over the array. During inserts, a
 * look finds fewer keys where it begins than where it ends, as if the hashes were not uniform. So
 * it returns WEIR_UNEVEN_YES only if each of several looks finds it, and almost no key comes in
 * between. */
uint32_t weir__spread_judge(const struct weir_law *law, uint64_t most, const char **why);
/* Only the repeated looks, after one that returned @verdict. A look at part of a large array may
 * miss what another one found.  Return: @verdict; or WEIR_UNEVEN_UNKNOWN, and @why is NULL. */
uint32_t weir__spread_confirm(const struct weir_law *law, uint64_t most, uint32_t verdict,
                              const char **why);

/* Count bits in binary: bit i of plane p counts 2^p. Each count must stay below 2^planes. */
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

/* An upper limit of a sum of squared deviations, each over its variance, with @freedom degrees of
 * freedom.  @mean: of a count, in keys.  @slack: the relative error allowed in each variance. */
double weir__spread_limit(double freedom, double mean, double slack);

#endif
