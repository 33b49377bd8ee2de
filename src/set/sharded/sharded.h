/* SPDX-License-Identifier: MIT
 * A sharded set: a handle that is replaced shard by shard.
 *
 * SH1 (routing) The top bits of a hash choose the shard, for ever. So a key lives in one shard.
 * SH2 (turning) A filter chooses the block by the top bits too, and all keys of a shard agree in
 *     those that chose it. So a shard's own hash is the set's, rotated: those bits come last.
 * SH3 (shards are handles) Each shard publishes its own records, by H1 to H5 of generation.h. An
 *     inserter or a lookup reads the record of its key's shard once (H1): it sees the old contents
 *     of that shard or the new ones. While shards are replaced, the set as a whole is a mixture.
 * SH4 (one claim) All shards share the set's claim (H4), so one is replaced at a time, and the peak
 *     is the set and one shard.
 * SH5 (the view) The set's own record names one filter for ever, the view, whose lookups go to the
 *     shards' records. The view has no bits, and its answers hold in the caller's section. */
#ifndef WEIR_SRC_SET_SHARDED_SHARDED_H
#define WEIR_SRC_SET_SHARDED_SHARDED_H

#include <weir/params.h>
#include "hash/hash.h"
#include "set/generation.h"

/* Which hashes lie in a shard, and their form there. */
struct weir_share {
	unsigned bits; /* log2(shards); 0: not a sharded set, hashes stay as they are */
	uint32_t shard;
	struct weir_handle *const *handles; /* the set's, one per shard */
};

/* SH1 */
static inline uint32_t weir__share_shard(unsigned bits, uint64_t hash)
{
	return (uint32_t)(hash >> (64 - bits)); /* bits > 0 */
}

/* SH2 */
static inline uint64_t weir__share_hash(unsigned bits, uint64_t hash)
{
	return hash << bits | hash >> (64 - bits);
}

enum { WEIR__VIEW_NAME = 80 };

struct weir_sharded {
	struct weir_handle handle; /* first: its record names the view (SH5) */
	unsigned bits;
	uint32_t shards;
	struct weir_hashing hashing; /* of all shards */
	struct weir_params params;   /* of one shard */
	struct weir_kind kind;       /* of the view: the shards', without what a view cannot do */
	char name[WEIR__VIEW_NAME];
	struct weir_handle *shard[];
};

/* The record of the hash's shard. Called in a section. */
static inline const struct weir_generation *weir__shard_record(const struct weir_sharded *set,
                                                               uint64_t hash)
{
	return weir__generation(set->shard[weir__share_shard(set->bits, hash)]);
}

/* Is the key in its shard? Called in a section. */
static inline bool weir__shard_contains(const struct weir_sharded *set, uint64_t hash)
{
	return weir_contains_hash(weir__shard_record(set, hash)->current,
	                          weir__share_hash(set->bits, hash));
}

enum { WEIR__TOGETHER = 64 }; /* keys whose lines are fetched together: a word of the bitmap */

/* Fetch the line of a hash in its shard's current filter; for a classic filter, one of its
 * lines. */
static inline void weir__shard_fetch(const struct weir_sharded *set, uint64_t hash)
{
	const struct weir_filter *f = weir__shard_record(set, hash)->current;
	__builtin_prefetch(weir__line(&f->array, weir__share_hash(set->bits, hash)), 0, 3);
}

/* weir_create(), or for a kind that is built once the smallest filter without keys. */
int weir__empty_make(struct weir_filter **out, const struct weir_params *params);
/* @options: complete, with params and shards. Return: as weir_handle_create(). */
int weir__sharded_make(struct weir_handle **out, const struct weir_handle_options *options);
/* Make the view of a set whose shards all exist. @whole: the plan of one filter for as many
 * keys. */
int weir__view_make(struct weir_filter **out, struct weir_sharded *set,
                    const struct weir_plan *whole);

/* The verbs of struct weir_handle_head. */
extern const struct weir_handle_verbs weir__sharded_verbs;
/* weir_handle_insert_keys() for a batch whose form is valid. Called in a section. */
int64_t weir__sharded_insert_keys(struct weir_sharded *set, struct weir_keys keys,
                                  uint64_t *bitmap);

#endif
