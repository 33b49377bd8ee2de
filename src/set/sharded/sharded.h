/* SPDX-License-Identifier: MIT
 * A sharded set: a handle that is replaced shard by shard.
 *
 * [SHARD-ROUTING]  The top bits of a hash choose the shard, for ever. So a key lives in one shard.
 * [SHARD-TURN]  A filter chooses the block by the top bits too, and all keys of a shard have the
 *    same top bits. So a shard uses the set's hash rotated: the bits that chose the shard come
 *    last.
 * [SHARD-HANDLES]  Each shard publishes its own records, by the rules of generation.h. An inserter
 *    or a lookup reads the record of its key's shard once ([DUAL-WRITE]), and uses the shard's old
 *    or new contents. During weir_reload_all() some shards are old and some are new.
 * [SHARD-CLAIM]  All shards share the set's claim ([ONE-WRITER]), so one shard is replaced at a
 *    time, and the peak memory is that of the set and one shard.
 * [SHARD-VIEW]  The set's own record always names one filter, the view. The view has no bits:
 *    lookups in the view use the shards' records. They run in the caller's read-side section, so no
 *    shard's filter is freed during a lookup. */
#ifndef WEIR_SRC_SET_SHARDED_SHARDED_H
#define WEIR_SRC_SET_SHARDED_SHARDED_H

#include <weir/params.h>
#include "hash/hash.h"
#include "set/generation.h"

/* The keys that belong to a reload: all keys of the handle, or only the keys of one shard. */
struct weir_share {
	unsigned bits; /* log2(shards); 0: not a sharded set, and hashes are not rotated */
	uint32_t shard;
	struct weir_handle *const *handles; /* the handles of the set's shards */
};

/* [SHARD-ROUTING]: return the shard of a hash. */
static inline uint32_t weir__share_shard(unsigned bits, uint64_t hash)
{
	return (uint32_t)(hash >> (64 - bits)); /* bits > 0 */
}

/* [SHARD-TURN]: return the hash for use in its shard. */
static inline uint64_t weir__share_hash(unsigned bits, uint64_t hash)
{
	return hash << bits | hash >> (64 - bits);
}

enum { WEIR__VIEW_NAME = 80 };

struct weir_sharded {
	struct weir_handle handle; /* first field (set_of()); its record names the view */
	unsigned bits;
	uint32_t shards;
	struct weir_hashing hashing; /* the same in all shards */
	struct weir_params params;   /* for making one shard */
	struct weir_kind kind;       /* the view's kind: the shards' kind with fewer abilities */
	char name[WEIR__VIEW_NAME];
	struct weir_handle *shard[];
};

/* Return: the record of the hash's shard. Call this in a section. */
static inline const struct weir_generation *weir__shard_record(const struct weir_sharded *set,
                                                               uint64_t hash)
{
	return weir__generation(set->shard[weir__share_shard(set->bits, hash)]);
}

/* Return: true if the hash is in its shard. Call this in a section. */
static inline bool weir__shard_contains(const struct weir_sharded *set, uint64_t hash)
{
	return weir_contains_hash(weir__shard_record(set, hash)->current,
	                          weir__share_hash(set->bits, hash));
}

/* The number of keys that are prefetched together. Their answers fill one word of the bitmap. */
enum { WEIR__TOGETHER = 64 };

/* Prefetch the line of a hash in its shard's current filter. A classic filter has several lines for
 * each hash; this prefetches the first of them. */
static inline void weir__shard_fetch(const struct weir_sharded *set, uint64_t hash)
{
	const struct weir_filter *f = weir__shard_record(set, hash)->current;
	__builtin_prefetch(weir__line(&f->array, weir__share_hash(set->bits, hash)), 0, 3);
}

/* As weir_create(), but for a kind that is built once make the smallest filter without keys. */
int weir__empty_make(struct weir_filter **out, const struct weir_params *params);
/* @options: complete, with params and shards. Return: as weir_handle_create(). */
int weir__sharded_make(struct weir_handle **out, const struct weir_handle_options *options);
/* Make the view of a set whose shards all exist. @whole: the plan of one filter for all keys. */
int weir__view_make(struct weir_filter **out, struct weir_sharded *set,
                    const struct weir_plan *whole);

/* The functions in struct weir_handle_head. */
extern const struct weir_handle_verbs weir__sharded_verbs;
/* weir_handle_insert_keys() for a batch whose form is valid. Call this in a section. */
int64_t weir__sharded_insert_keys(struct weir_sharded *set, struct weir_keys keys,
                                  uint64_t *bitmap);

#endif
