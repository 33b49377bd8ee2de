/* SPDX-License-Identifier: MIT
 * The different hashes among those collected, near each other by their top bits. */
#ifndef WEIR_SRC_BUILD_DISTINCT_H
#define WEIR_SRC_BUILD_DISTINCT_H

#include "build/collect.h"
#include "kind/kind.h"

/* Asked for each bin that is done: so many more hashes. Return: 0; -ECANCELED. */
typedef int weir__step_fn(void *arg, uint64_t hashes);

/* A bin's hashes lie in runs by the bits below those of the bin. */
struct weir_run_bin {
	uint64_t *hashes; /* NULL: in the file, from @at on */
	uint64_t at, n;
	uint64_t *begin;  /* of each run, and the end of the last */
};

enum { WEIR__HASH_PLANES = 20 };
/* How many of some different hashes have each bit, and of the products by which kinds choose cells.
 * Each bin gives as many. */
struct weir_hash_bits {
	uint64_t n; /* at most 2^8 of a bin */
	uint64_t hash[WEIR__HASH_PLANES], product[WEIR__HASH_PLANES]; /* weir__planes_add() */
};

struct weir_distinct {
	struct weir_collected *from; /* it has the file */
	unsigned run_bits;
	bool to_file;
	struct weir_run_bin bin[WEIR_BINS];
	atomic_uint_fast64_t n;
	struct weir_hash_bits bits;
};

/*
 * Sort and compare all that was collected, which is used up.
 * @run_bits: at least so many, for whoever asks for parts of as many bits behind a bin's.
 * @threads: to do it with.  @step: called by any of them.
 * Return: 0 or a negative errno; the caller calls weir__distinct_end() in any case.
 */
int weir__distinct(struct weir_distinct *out, struct weir_collected *from, unsigned run_bits,
                   unsigned threads, weir__step_fn *step, void *arg);
void weir__distinct_end(struct weir_distinct *d);

/* Are the hashes uniform?  @why: receives a sentence if not.  Return: enum weir_uneven. */
uint32_t weir__distinct_uneven(const struct weir_distinct *d, const char **why);

/* An odd number to multiply hashes by, so that the top bits are places in a table: a random one, or
 * a good one where there are no random numbers. Of two hashes the chance of one place is at most
 * twice that of a perfect hash (Dietzfelbinger et al. 1997). */
uint64_t weir__any_factor(void);

/* As count and read of struct weir_key_set. */
uint64_t weir__distinct_count(const struct weir_distinct *d, uint64_t part, unsigned part_bits);
int weir__distinct_read(const struct weir_distinct *d, uint64_t part, unsigned part_bits,
                        uint64_t *out);

/* ---- hashes that two lists have in common ---- */

/* @equal: receives how many there are.  @least: receives the least of them, if there is one.
 * Return: 0 or a negative errno. */
int weir__overlap(const struct weir_distinct *a, const struct weir_distinct *b, unsigned threads,
                  uint64_t *equal, uint64_t *least);

#endif
