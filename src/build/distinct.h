/* SPDX-License-Identifier: MIT
 * The different ones of the collected hashes, grouped by their top bits. */
#ifndef WEIR_SRC_BUILD_DISTINCT_H
#define WEIR_SRC_BUILD_DISTINCT_H

#include "build/collect.h"
#include "kind/kind.h"

/* Called after each bin, with the number of its hashes. Return: 0; -ECANCELED. */
typedef int weir__step_fn(void *arg, uint64_t hashes);

/* The hashes of a bin lie in runs, by the bits below those of the bin. */
struct weir_run_bin {
	uint64_t *hashes; /* NULL: in the file, from @at on */
	uint64_t at, n;
	uint64_t *begin;  /* where each run begins, and the end of the last */
};

enum { WEIR__HASH_PLANES = 20 };
/* How many of some different hashes have each bit set, and how many of the products by which kinds
 * choose cells. Each bin gives the same number of hashes. */
struct weir_hash_bits {
	uint64_t n; /* at most 2^8 per bin */
	uint64_t hash[WEIR__HASH_PLANES], product[WEIR__HASH_PLANES]; /* weir__planes_add() */
};

struct weir_distinct {
	struct weir_collected *from; /* it owns the file */
	unsigned run_bits;
	bool to_file;
	struct weir_run_bin bin[WEIR_BINS];
	atomic_uint_fast64_t n;
	struct weir_hash_bits bits;
};

/* Sort and compare all collected hashes, which uses them up.
 * @run_bits: at least this many, for a caller that asks for parts of that many bits below a bin's.
 * @threads: to do it with.  @step: called by any of them.
 * Return: 0 or a negative errno; the caller calls weir__distinct_end() in any case. */
int weir__distinct(struct weir_distinct *out, struct weir_collected *from, unsigned run_bits,
                   unsigned threads, weir__step_fn *step, void *arg);
void weir__distinct_end(struct weir_distinct *d);

/* Are the hashes uniform?  @why: receives a sentence if not.  Return: enum weir_uneven. */
uint32_t weir__distinct_uneven(const struct weir_distinct *d, const char **why);

/* An odd factor for hashes, so that the top bits of the product are places in a table. It is
 * random, or a good constant if random numbers fail. Two hashes share a place with at most twice
 * the chance of a perfect hash (Dietzfelbinger et al. 1997). */
uint64_t weir__any_factor(void);

/* The members count and read of struct weir_key_set. */
uint64_t weir__distinct_count(const struct weir_distinct *d, uint64_t part, unsigned part_bits);
int weir__distinct_read(const struct weir_distinct *d, uint64_t part, unsigned part_bits,
                        uint64_t *out);

/* ---- hashes that two lists have in common ---- */

/* @equal: receives the number of common hashes.  @least: receives the least of them, if any.
 * Return: 0 or a negative errno. */
int weir__overlap(const struct weir_distinct *a, const struct weir_distinct *b, unsigned threads,
                  uint64_t *equal, uint64_t *least);

#endif
