/* SPDX-License-Identifier: MIT
 * Bulk loading: hashes are sorted by parts of the filter, so that writes stay in cache. */
#ifndef WEIR_SRC_BULK_H
#define WEIR_SRC_BULK_H

#include "batch.h"

/* The number of parts of a filter of @bytes: a power of two, at most 2^partition_bits (L1). Parts
 * are runs of whole shards and fit half of a core's own cache, if there are shards enough. */
uint32_t weir__bulk_parts(unsigned partition_bits, uint64_t bytes, uint32_t shards);

/* Does sorting pay for an insert of n keys? */
bool weir__bulk_wanted(const struct weir_filter *f, size_t n);

/* As the kernel's insert_batch, but part by part. Without scratch memory it calls insert_batch. */
int64_t weir__bulk_insert(struct weir_filter *f, const struct weir_batch *batch, uint64_t *bitmap);

/* Load into a private filter by plain stores. A part has one owner at a time (O1).
 * Return: 0 or -ENOMEM. */
int weir__bulk_load(struct weir_filter *f, const uint64_t *hashes, size_t n);

#endif
