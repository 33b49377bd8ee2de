/* SPDX-License-Identifier: MIT
 * A builder: the parameters of the filter to be built, and the keys added so far. build.c collects
 * keys. finish.c handles an exclude list and finishes, by the steps in make.c. */
#ifndef WEIR_SRC_BUILD_BUILDER_H
#define WEIR_SRC_BUILD_BUILDER_H

#include <weir/build.h>
#include "build/collect.h"
#include "build/distinct.h"
#include "kind/kind.h"

struct weir_sorted;

struct weir_builder {
	struct weir_params params; /* including the seed */
	uint32_t hash_bits;        /* params.hash_bits as the caller gave it */
	unsigned char key[WEIR_SIPHASH_KEY];
	struct weir_hashing hashing;
	enum weir_isa isa; /* used to hash keys */
	struct weir_builder_options options;
	char *folder;
	atomic_int failed; /* 0, or the error that every further call returns */
	struct weir_collected collected;
	/* Set when a builder with an exclude list is sealed: */
	struct weir_sorted *included;  /* the included keys */
	struct weir_filter *sieve;     /* a filter of the included keys, for the exclude list */
	struct weir_collected *passed; /* the excluded keys that passed the sieve */
	atomic_uint_fast64_t excluded; /* excluded keys streamed so far */
	/* The progress of seal and finish. The mutex reporting protects done. */
	pthread_mutex_t reporting;
	uint64_t done, total;
	struct weir_build_report report;
};

/* Hash the keys, and call @take for about 256 hashes at a time. */
typedef int weir__take_fn(struct weir_builder *b, const uint64_t *hashes, size_t n);
int weir__builder_take(struct weir_builder *b, struct weir_keys keys, weir__take_fn *take);

/* Return: the number of keys added so far, including duplicates. */
uint64_t weir__builder_added(struct weir_builder *b);
/* Fail with @err and the sentence for a builder that has failed or was finished. */
int weir__builder_has_failed(int err);

/* Sort the added keys. A capacity of 0 becomes the number of distinct keys. */
int weir__builder_sort(struct weir_builder *b, struct weir_sorted **out);
/* Build a filter by the plan from @given. If the keys do not fit the plan, try larger plans within
 * max_bytes. */
int weir__builder_make(struct weir_builder *b, struct weir_filter **out,
                       const struct weir_params *p, struct weir_plan *plan,
                       const struct weir_key_set *given);
/* weir_builder_seal() for a builder that has not failed. */
int weir__builder_seal(struct weir_builder *b);
/* Finish a sealed builder. */
int weir__builder_finish_sealed(struct weir_builder *b, struct weir_filter **out);

/* ---- the sorted keys of a builder, which a kind builds from ---- */

struct weir_sorted {
	struct weir_key_set given; /* must be first: sorted_of(). given.n counts distinct keys */
	struct weir_distinct distinct;
	struct weir_builder *b;
};

/* Sort the collected hashes, which empties @from.  @expected: the most keys of the structure that
 * is built from the sorted hashes. With more keys, the hashes are grouped by more of their top
 * bits.
 * Return: 0 or a negative errno; the caller calls weir__sorted_free() in any case. */
int weir__sort(struct weir_sorted **out, struct weir_builder *b, struct weir_collected *from,
               uint64_t expected);
void weir__sorted_free(struct weir_sorted *s);

#endif
