/* SPDX-License-Identifier: MIT
 * A rolling set: a table of handles, one a shard, that share a seed and the right to write. */
#ifndef WEIR_SRC_ROLLING_H
#define WEIR_SRC_ROLLING_H

#include <weir/rolling.h>
#include "kind/batch.h"
#include "set/generation.h"
#include "set/reload/reload.h"

struct weir_rolling {
	unsigned bits;
	uint32_t shards;
	struct weir_hashing hashing; /* of all shards */
	struct weir_params shard_params;
	struct weir_rcu rcu;
	atomic_bool claimed; /* H4: one shard at a time, so that the peak is one shard more */
	struct weir_handle *shard[];
};

/* The hashes of a batch that has a form. */
static inline void weir__rolling_hash_keys(const struct weir_rolling *set, struct weir_keys keys,
                                           uint64_t *out)
{
	weir__keys_hash(&set->hashing, WEIR_ISA_SCALAR, keys, out);
}

#endif
