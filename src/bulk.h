/* SPDX-License-Identifier: MIT
 * Bulk loading: hashes sorted by the part of the filter they fall in, so that writes stay in
 * cache. */
#ifndef WEIR_SRC_BULK_H
#define WEIR_SRC_BULK_H

#include "batch.h"

/* How many parts a filter of that size is cut into: runs of whole shards that fit half a core's
 * own cache, a power of two, at most 2^partition_bits (L1). */
uint32_t weir__bulk_parts(unsigned partition_bits, uint64_t bytes, uint32_t shards);

/* Whether sorting first pays for an insert of n keys. */
bool weir__bulk_wanted(const struct weir_filter *f, size_t n);

/* Insert atomically, part by part. How many were new. Without scratch memory it goes through the
 * plain pipeline. */
int64_t weir__bulk_insert(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap);

/* Load into a private filter by plain stores; a part has one owner at a time (O1). 0 or -ENOMEM. */
int weir__bulk_load(struct weir_filter *f, const uint64_t *hashes, size_t n);

#endif
