/* SPDX-License-Identifier: MIT
 * Bulk loading of a private filter by plain stores: a part has one owner at a time (O1). */
#ifndef WEIR_SRC_FILTER_BULK_H
#define WEIR_SRC_FILTER_BULK_H

#include "kind/kind.h"

/* The number of parts of a filter of @bytes: a power of two, at most 2^partition_bits (L1). Parts
 * are runs of whole shards and of whole blocks, and fit half of a core's own cache, if there are
 * shards enough. */
uint32_t weir__bulk_parts(const struct weir_kernel *kernel, uint64_t bytes, uint32_t shards);

/* Return: 0 or -ENOMEM (owner.h); then nothing was loaded. */
int weir__bulk_load(struct weir_filter *f, const uint64_t *hashes, size_t n);

#endif
