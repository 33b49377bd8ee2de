/* SPDX-License-Identifier: MIT
 * Which hashes of a rolling set lie in a shard, and what they are there. The shard's filter
 * looks for its block in the top bits of a hash; those that chose the shard are the same for all
 * its keys, so they are turned to the bottom. */
#ifndef WEIR_SRC_SHARE_H
#define WEIR_SRC_SHARE_H

#include <stdbool.h>
#include "set/keys.h"

struct weir_share {
	unsigned bits; /* log2(shards); 0: no rolling set, every hash is taken as it is */
	uint32_t shard;
};

static inline uint32_t weir__share_shard(unsigned bits, uint64_t hash)
{
	return (uint32_t)(hash >> (64 - bits)); /* bits > 0 */
}

static inline uint64_t weir__share_hash(unsigned bits, uint64_t hash)
{
	return hash << bits | hash >> (64 - bits);
}

/* Insert those of n keys that lie in the share into its filter. Return: how many were new, or a
 * negative errno. */
int64_t weir__share_insert(const struct weir_share *share, struct weir_filter *f,
                           const struct weir_keys *keys, size_t n);

#endif
