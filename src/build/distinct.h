/* SPDX-License-Identifier: MIT
 * Finds the distinct hashes among the collected hashes, and groups them by their top bits. */
#ifndef WEIR_SRC_BUILD_DISTINCT_H
#define WEIR_SRC_BUILD_DISTINCT_H

#include "build/collect.h"
#include "kind/kind.h"

/* Called after each bin, with the number of its hashes. Return: 0, or -ECANCELED to stop. */
typedef int weir__step_fn(void *arg, uint64_t hashes);

/* A bin of distinct hashes. They are grouped in runs, by the bits below those of the bin. */
struct weir_run_bin {
	uint64_t *hashes; /* NULL: the hashes are in the file, at byte @at */
	uint64_t at, n;
	uint64_t *begin;  /* where each run begins; the last entry: the end of the last run */
};

enum { WEIR__HASH_PLANES = 20 };
/* Counts over a sample of the distinct hashes, with about equally many from each bin. They tell how
 * often each bit is set in the hashes, and in the products by which kinds choose cells. */
struct weir_hash_bits {
	uint64_t n; /* number of hashes in the sample, at most 2^8 per bin */
	/* weir__planes_add() fills both arrays. */
	uint64_t hash[WEIR__HASH_PLANES], product[WEIR__HASH_PLANES];
};

struct weir_distinct {
	struct weir_collected *from; /* the collector, which owns the file */
	unsigned run_bits;
	bool to_file;
	struct weir_run_bin bin[WEIR_BINS];
	atomic_uint_fast64_t n;
	struct weir_hash_bits bits;
};

/* Sort all collected hashes and drop the duplicates. The call empties @from.
 * @run_bits: the top bits of a hash choose its bin, and at least this many bits below them choose
 * its run. A caller that reads parts smaller than a bin needs at least as many bits as choose a
 * part within its bin.
 * @threads: the number of threads to use.  @step: any of these threads may call it.
 * Return: 0 or a negative errno; the caller calls weir__distinct_end() in any case. */
int weir__distinct(struct weir_distinct *out, struct weir_collected *from, unsigned run_bits,
                   unsigned threads, weir__step_fn *step, void *arg);
void weir__distinct_end(struct weir_distinct *d);

/* Return: enum weir_uneven, whether the hashes are uniform.  @why: the reason if not. */
uint32_t weir__distinct_uneven(const struct weir_distinct *d, const char **why);

/* Return: an odd factor for hashes. The top bits of the product choose a slot of a hash table. The
 * factor is random, or a good constant if random numbers fail. Two hashes share a slot with at most
 * twice the chance of a perfect hash (Dietzfelbinger et al. 1997). */
uint64_t weir__any_factor(void);

/* The count() and read() of struct weir_key_set. */
uint64_t weir__distinct_count(const struct weir_distinct *d, uint64_t part, unsigned part_bits);
int weir__distinct_read(const struct weir_distinct *d, uint64_t part, unsigned part_bits,
                        uint64_t *out);

/* ---- hashes that two lists have in common ---- */

/* Count the hashes that are in both lists.
 * @equal: receives the number of common hashes.  @least: receives the lowest common hash, if
 * there is one.
 * Return: 0 or a negative errno. */
int weir__overlap(const struct weir_distinct *a, const struct weir_distinct *b, unsigned threads,
                  uint64_t *equal, uint64_t *least);

#endif
