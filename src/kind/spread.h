/* SPDX-License-Identifier: MIT
 * Tests whether the hashes of a filter's keys are uniform, by the cells in use.
 *
 * [SPREAD] Under the kind's law the number of keys in a block is Poisson, and each key picks its
 * words and cells uniformly. So two sums have a known mean and variance, for any keys, and also
 * after repeated inserts, removals, merges and folds:
 *   - over words, one from each block: the variance of their used cells. Hashes that differ
 *     too little in their top bits fill some blocks and leave others empty;
 *   - over the cells of a word: the number of blocks in which each is used. Hashes with constant
 *     low bits use some cells far more often than others.
 * Two more tests find deviations that those sums average out:
 *   - the fullest block. Unmixed identifiers among well-mixed hashes share a block;
 *   - pairs of blocks: the number of cells that the two blocks have in common. Keys whose low bits
 *     have few values use the same cells of their blocks.
 * If keys move between two blocks, the tests are different: few keys may share a partner block, and
 * each bit must be set in about half of their fingerprints. */
#ifndef WEIR_SRC_KIND_SPREAD_H
#define WEIR_SRC_KIND_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

struct weir_array;
struct weir_filter;

/* How the cells of a key are distributed. A block has words of 64 or 32 bits. */
struct weir_law {
	const uint64_t *base; /* the blocks' 64-bit word i is base[i * stride] */
	uint64_t stride;
	uint64_t blocks;
	unsigned words;     /* the number of words in a block, a power of two */
	unsigned word_bits; /* 64 or 32 */
	unsigned cells;     /* the number of cells in a word */
	unsigned z, g;      /* a key uses g cells, drawn with replacement, in each of z words, one
	                     * from each of z equal groups */
	/* Return the lowest bit of each cell in use. NULL: the word itself has one bit a cell. */
	uint64_t (*used)(uint64_t word);
	/* Each cell of a key lies in a different block, as if the cell were a key. So a full block
	 * alone makes no absent key look present, and a crowded block does no harm. */
	bool apart;
	/* The upper half of a hash chooses the block, and the lower half its cells. A block has
	 * eight words of 32 cells. */
	bool halves;
	/* For kinds whose keys move between two blocks; else NULL. A key has one cell, anywhere in
	 * its word, so the variance is at most Poisson's. Return the other block of @block's first
	 * key. @print receives the key's fingerprint of print_bits bits, or 0 if the block has no
	 * key. */
	uint64_t (*partner)(const struct weir_array *a, uint64_t block, unsigned *print);
	unsigned print_bits;
	const struct weir_array *array; /* the first argument of partner() */
};

/* Return: the number of blocks to read in a save, and to confirm WEIR_UNEVEN_YES. */
static inline uint64_t weir__spread_enough(const struct weir_law *law)
{
	return law->blocks > 1 << 20 ? law->blocks / 4 : law->blocks;
}

enum { WEIR__SPREAD_CELLS = 512, WEIR__SPREAD_WORDS = 64 }; /* the most of each in a block */

struct weir_spread {
	struct weir_law law;
	uint64_t words;         /* the number of words read, one of each block */
	uint64_t used,    /* the number of used cells in these words */
		squares;  /* the sum over these words of that number squared */
	uint64_t fullest; /* the block that seemed fullest */
	unsigned score,   /* the number of used cells in the fullest block, from the word read
	                     to the first word that is not full */
		notable;  /* a word with at least this many used cells may be in a fuller block */
	unsigned crowd;   /* the largest number of used cells in a block that was read whole */
	uint64_t step;    /* every step-th block is counted */
	uint64_t counted; /* the number of blocks counted */
	uint32_t at[WEIR__SPREAD_CELLS]; /* at[i]: the number of counted blocks that use cell i */
	uint64_t whole,        /* the number of used cells in the counted blocks */
		whole_squares; /* the sum over these blocks of that number squared */
	double common,           /* a sum over pairs of blocks: the squared deviation of the number
	                            of cells in common, less the mean of this square */
		common_variance; /* the variance of common */
	/* For kinds with partner(): */
	unsigned partners;    /* the number of keys whose partner block was read */
	uint64_t meetings;    /* the number of pairs of these keys with one partner block */
	double meetings_mean; /* the expected number of such pairs, for uniform hashes */
	unsigned ones[16];    /* for each bit, the number of these keys whose fingerprint
	                       has the bit */
};

/* The remedy at the end of each error sentence about uneven hashes. The remedy covers lookups too:
 * a caller that mixes hashes only on insert would not find its keys. */
#define WEIR__UNEVEN_REMEDY "give such hashes to the _u64 verbs, which mix them, and look up by " \
                            "those too"

/* Return: false if the kind has no law, so its hashes cannot be tested. */
bool weir__spread_law(const struct weir_filter *f, struct weir_law *law);
/* Start a new measurement.  @blocks: the number of blocks that will be read. */
void weir__spread_begin(struct weir_spread *s, const struct weir_law *law, uint64_t blocks);
/* Read one word of each of n blocks from @first on. In kinds with partner(), whose blocks are one
 * word each, read only one block of each line. Other threads may insert at the same time. */
void weir__spread_look(struct weir_spread *s, uint64_t first, uint64_t n);
/* Count the cells of every step-th of n blocks from @first on. All calls together count a few
 * hundred blocks. */
void weir__spread_count(struct weir_spread *s, uint64_t first, uint64_t n);
/* The last step. It reads all words of a few blocks at both ends of a large array, and counts their
 * cells. Then it reads the whole fullest block. From all over the array it reads pairs of blocks
 * (kinds with halves) or keys with their partner blocks (kinds with partner()). */
void weir__spread_end(struct weir_spread *s);

/* Return: enum weir_uneven. Uniform hashes give WEIR_UNEVEN_YES in at most one of a million
 * filters.
 * @why: receives a sentence if the hashes are uneven. */
uint32_t weir__spread_verdict(const struct weir_spread *s, const char **why);

/* Do all steps above on about @most blocks, in whole pages from all over the array. During inserts,
 * a pass finds fewer keys where it begins than where it ends, as if the hashes were not uniform. So
 * the result is WEIR_UNEVEN_YES only if several passes find it, and almost no key is inserted
 * between them. */
uint32_t weir__spread_judge(const struct weir_law *law, uint64_t most, const char **why);
/* Repeat the passes after a pass that returned @verdict. The result may be unknown, since a pass
 * over a sample of a large array may miss unevenness that another pass found.
 * Return: @verdict if the passes confirm it; else WEIR_UNEVEN_UNKNOWN, with *why NULL. */
uint32_t weir__spread_confirm(const struct weir_law *law, uint64_t most, uint32_t verdict,
                              const char **why);

/* Add 1 to counter i for each set bit i. Bit i of plane p is digit p of counter i, in binary. Each
 * count must stay below 2^planes. */
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

/* Return: an upper limit of a sum of squared deviations, each divided by its variance. The sum has
 * @freedom degrees of freedom.  @mean: the mean count, in keys.  @slack: the relative error allowed
 * in each variance. */
double weir__spread_limit(double freedom, double mean, double slack);

#endif
