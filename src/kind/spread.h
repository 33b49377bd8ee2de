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
 * Two more look for what those sums average out:
 *   - the fullest block: identifiers among well-mixed hashes share a block;
 *   - pairs of blocks: how many cells two of them have in common. Keys whose low bits have few
 *     values use the same cells of their blocks.
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
	const uint64_t *base; /* 64 bits number i of the blocks are base[i * stride] */
	uint64_t stride;
	uint64_t blocks;
	unsigned words;     /* of a block: a power of two */
	unsigned word_bits; /* 64 or 32 */
	unsigned cells;     /* of a word */
	unsigned z, g;      /* a key uses g cells, drawn with replacement, in each of z words, one
	                       of each of z equal groups */
	/* One bit for each cell in use, at its lowest bit. NULL: the word itself. */
	uint64_t (*used)(uint64_t word);
	/* A key's cells lie in blocks apart: each is as if it were a key. So a full block answers
	 * for none, and crowds do no harm. */
	bool apart;
	/* The upper half of a hash chooses the block, the lower half alone its cells. Eight words
	 * of 32 cells. */
	bool halves;
	/* Kinds whose keys move alone; else NULL. A key has one cell, any of its word, so the
	 * variance is Poisson's at most. The first key of that block has this other block, and
	 * this fingerprint of print_bits; 0: the block has no key. */
	uint64_t (*partner)(const struct weir_array *a, uint64_t block, unsigned *print);
	unsigned print_bits;
	const struct weir_array *array; /* for partner() */
};

/* Of more blocks than that, a save and the looks that confirm WEIR_UNEVEN_YES take a quarter. */
static inline uint64_t weir__spread_enough(const struct weir_law *law)
{
	return law->blocks > 1 << 20 ? law->blocks / 4 : law->blocks;
}

enum { WEIR__SPREAD_CELLS = 512, WEIR__SPREAD_WORDS = 64 }; /* of a block, at most */

struct weir_spread {
	struct weir_law law;
	uint64_t words; /* that were looked at, one of a block */
	uint64_t used, squares; /* the sum of their used cells, and of the squares */
	uint64_t fullest; /* the block whose words looked fullest: */
	unsigned score, notable; /* its cells, on to the first word that is not full */
	unsigned crowd; /* the used cells of that block, or of a counted one that has more */
	uint64_t step;    /* of each so many blocks the first is counted */
	uint64_t counted; /* blocks whose cells were counted one by one, and as a whole: */
	uint32_t at[WEIR__SPREAD_CELLS];
	uint64_t whole, whole_squares;
	/* Of pairs of blocks: the sum, over its mean, of the squared deviation of the number of
	 * cells in common, and the variance of that sum. */
	double common, common_variance;
	/* In place of those: keys whose other block was looked at, pairs of them that have one in
	 * common, and how many of their fingerprints have each bit. */
	unsigned partners;
	uint64_t meetings;
	double meetings_mean;
	unsigned ones[16];
};

/* The end of each sentence about such hashes: a caller that mixes what it inserts alone would find
 * none of its keys. */
#define WEIR__UNEVEN_REMEDY "give such hashes to the _u64 verbs, which mix them, and look up by " \
                            "those too"

/* Return: false, the kind has no law, and nothing can be said. */
bool weir__spread_law(const struct weir_filter *f, struct weir_law *law);
/* Begin with nothing looked at.  @blocks: that will be. */
void weir__spread_begin(struct weir_spread *s, const struct weir_law *law, uint64_t blocks);
/* Look at one word of each of n blocks from first on. Others may insert meanwhile. */
void weir__spread_look(struct weir_spread *s, uint64_t first, uint64_t n);
/* Count the cells of some of those, some hundred in all. */
void weir__spread_count(struct weir_spread *s, uint64_t first, uint64_t n);
/* At last: look at all words of a few blocks at either end, of many, and count their cells; at all
 * of the fullest block; at pairs of blocks, or at partners, from all over the array. */
void weir__spread_end(struct weir_spread *s);

/* @why: receives a sentence if they are uneven.  Return: enum weir_uneven. With uniform hashes it
 * is WEIR_UNEVEN_YES once in a million filters at most. */
uint32_t weir__spread_verdict(const struct weir_spread *s, const char **why);

/* All of that, at about @most blocks, in whole pages from all over the array. While keys are
 * inserted, a look finds fewer of them where it begins than where it ends, as if the hashes were
 * not uniform. So WEIR_UNEVEN_YES is said only if each of several looks finds it, and hardly a key
 * comes meanwhile. */
uint32_t weir__spread_judge(const struct weir_law *law, uint64_t most, const char **why);
/* The several looks alone, after one that said @verdict. A look at a part of a large array may miss
 * what another one found.  Return: @verdict; or WEIR_UNEVEN_UNKNOWN, and @why is NULL. */
uint32_t weir__spread_confirm(const struct weir_law *law, uint64_t most, uint32_t verdict,
                              const char **why);

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
