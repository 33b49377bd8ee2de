/* SPDX-License-Identifier: MIT
 * The batch pipeline: where the hashes of a batch come from, and the steps over them 64 at a time. */
#ifndef WEIR_SRC_BATCH_H
#define WEIR_SRC_BATCH_H

#include "kind.h"

enum { WEIR_STEP = 64 }; /* keys a step: one word of the bitmap, and the distance at which lines are prefetched */

/* The keys of a batch. take() returns the hashes of keys at .. at+n-1 (n <= WEIR_STEP), in scratch or where they already are. */
struct weir_batch {
	const uint64_t *(*take)(const struct weir_filter *f, const struct weir_batch *batch, size_t at, unsigned n, uint64_t *scratch);
	const void *keys;
	size_t key_bytes;
	size_t n;
};

struct weir_batch weir__batch_hashes(const uint64_t *hashes, size_t n);
struct weir_batch weir__batch_keys(const struct iovec *keys, size_t n);
struct weir_batch weir__batch_fixed(const void *keys, size_t key_bytes, size_t n);

/* How many answered true; the answers into bitmap unless NULL. */
size_t weir__batch_contains(const struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap);
/* How many were new. */
size_t weir__batch_insert(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap);
/* Plain stores into shards the caller owns. */
void weir__batch_load(struct weir_filter *f, const uint64_t *hashes, size_t n);
/* All hashes of a batch into out. */
void weir__batch_hash(const struct weir_filter *f, const struct weir_batch *batch, uint64_t *out);

#endif
