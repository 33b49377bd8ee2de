/* SPDX-License-Identifier: MIT
 * Which hashes of a rolling set lie in a shard, and what they become there. The top bits of a hash
 * choose the shard, and a filter chooses the block by the top bits too. All keys of a shard agree
 * in the bits that chose it, so a hash is rotated and those come last. */
#ifndef WEIR_SRC_SHARE_H
#define WEIR_SRC_SHARE_H

#include <stdbool.h>
#include "set/keys.h"

struct weir_handle;

struct weir_share {
	unsigned bits; /* log2(shards); 0: not of a rolling set, every hash is taken as it is */
	uint32_t shard;
	struct weir_handle *const *handles; /* the set's, one a shard */
};

static inline uint32_t weir__share_shard(unsigned bits, uint64_t hash)
{
	return (uint32_t)(hash >> (64 - bits)); /* bits > 0 */
}

static inline uint64_t weir__share_hash(unsigned bits, uint64_t hash)
{
	return hash << bits | hash >> (64 - bits);
}

/* Keep those that lie in the share, as the shard's own hashes. Return: how many. */
size_t weir__share_keep(const struct weir_share *share, uint64_t *hashes, size_t n);
/* Insert those of the keys that lie in the share into its filter.
 * @bitmap: as for weir_insert_keys(); a key of another share is not new.
 * Return: how many were new, or a negative errno. */
int64_t weir__share_insert(const struct weir_share *share, struct weir_filter *f,
                           struct weir_keys keys, uint64_t *bitmap);

#endif
