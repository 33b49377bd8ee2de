/* SPDX-License-Identifier: MIT
 * A builder: the parameters of the filter to come, and the keys added. build.c collects, finish.c
 * takes an exclude list and builds, by the steps in make.c. */
#ifndef WEIR_SRC_BUILD_BUILDER_H
#define WEIR_SRC_BUILD_BUILDER_H

#include <weir/build.h>
#include "build/collect.h"
#include "build/distinct.h"
#include "kind/kind.h"

struct weir_sorted;

struct weir_builder {
	struct weir_params params; /* with the seed */
	uint32_t hash_bits;        /* as given: params has the rate that they leave */
	unsigned char key[WEIR_SIPHASH_KEY];
	struct weir_hashing hashing;
	enum weir_isa isa; /* used to hash keys */
	struct weir_builder_options options;
	char *folder;
	atomic_int failed; /* 0, or the error that every further call returns */
	struct weir_collected collected;
	/* for a kind with an exclude list, once sealed: the included keys, the filter of them that
	 * the list is streamed through, and the keys that passed */
	struct weir_sorted *included;
	struct weir_filter *sieve;
	struct weir_collected *passed;
	atomic_uint_fast64_t excluded; /* keys that were streamed */
	/* for seal and finish */
	pthread_mutex_t reporting;
	uint64_t done, total;
	struct weir_build_report report;
};

/* Pass the hashes of the keys to @take, some hundred at a time. */
typedef int weir__take_fn(struct weir_builder *b, const uint64_t *hashes, size_t n);
int weir__builder_take(struct weir_builder *b, struct weir_keys keys, weir__take_fn *take);

/* Keys added so far, duplicates too. */
uint64_t weir__builder_added(struct weir_builder *b);
/* Fail, with the sentence for a builder that has failed or was finished. */
int weir__builder_has_failed(int err);

/* Sort the added keys. An open capacity becomes the number of keys. */
int weir__builder_sort(struct weir_builder *b, struct weir_sorted **out);
/* Make a filter of the plan and build it. If that fails, try larger ones within max_bytes. */
int weir__builder_make(struct weir_builder *b, struct weir_filter **out,
                       const struct weir_params *p, struct weir_plan *plan,
                       const struct weir_key_set *given);
/* weir_builder_seal() for a builder that has not failed. */
int weir__builder_seal(struct weir_builder *b);
/* The second stage of a sealed builder. */
int weir__builder_finish_sealed(struct weir_builder *b, struct weir_filter **out);

/* ---- the keys of a builder in their order, for the kind that builds from them ---- */

struct weir_sorted {
	struct weir_key_set given; /* first; given.n: different keys */
	struct weir_distinct distinct;
	struct weir_builder *b;
};

/* Sort the collected hashes, which uses them up.  @expected: keys of the structure to come, 0: not
 * more than were collected.
 * Return: 0 or a negative errno; the caller calls weir__sorted_free() in any case. */
int weir__sort(struct weir_sorted **out, struct weir_builder *b, struct weir_collected *from,
               uint64_t expected);
void weir__sorted_free(struct weir_sorted *s);

#endif
