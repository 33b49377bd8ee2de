/* SPDX-License-Identifier: MIT
 * A set that is too large to hold twice. It is replaced one shard at a time, so its peak is the set
 * and one shard.
 *
 * A key lives in one shard. So a lookup sees either the old contents of that shard or the new ones,
 * never a mixture. The set as a whole is a mixture while a replacement runs: some shards are new,
 * some old. In this the promise is weaker than a handle's. The promise of handle.h to inserts holds
 * for each shard, with weir_rolling_begin() of the key's shard in place of weir_reload_begin().
 *
 * A shard may be full (handle.h, Full filters): then it refuses its keys, whatever room the others
 * have. The size of such a set never changes, so make one of such a kind with room to spare.
 *
 * Shards of a kind that is built once (build.h) are filled as reload.h says, and each becomes as
 * large as its keys need. params.capacity may be 0; else a commit refuses a shard of more keys than
 * its share and six standard deviations of random hashes (-ENOSPC).
 *
 * A table leads to each shard's own handle, so a lookup costs one load more than through one
 * handle. Filters and handles outside a rolling set pay nothing.
 */
#ifndef WEIR_ROLLING_H
#define WEIR_ROLLING_H

#include <weir/reload.h>

WEIR_BEGIN_DECLS

struct weir_rolling;

/**
 * Make an empty set.
 * @out: receives the set; untouched on failure.
 * @params: of the whole set, as for weir_create(); memory must be NULL. Each shard has room for its
 *   share of the capacity and the spread of random hashes. Its limit is its share of max_bytes.
 * @shards: a power of two from 2 to 65536.
 * @flavor: as in struct weir_handle_options.
 * Return: 0 or a negative errno.
 * Errors: as weir_create(); -EINVAL @shards, memory, or max_bytes below 64 a shard.
 * Threads: any.  Order: publish the set with release order.  Progress: blocking (memory).
 * Cost: as weir_create() of each shard.
 */
WEIR_API WEIR_MUST_CHECK int weir_rolling_create(struct weir_rolling **out,
                                                 const struct weir_params *params, uint32_t shards,
                                                 const struct rcu_flavor_struct *flavor);
/** As weir_handle_destroy(), of the whole set. */
WEIR_API int weir_rolling_destroy(struct weir_rolling *set);

/** As weir_hash(): the hash for the _hash verbs. All shards have one seed or hash_key, which never
 * changes. */
WEIR_API uint64_t weir_rolling_hash(const struct weir_rolling *set, const void *key, size_t len);
/**
 * The shard of a hash: its top bits. A loader that sorts its source by shard first reads it once
 * instead of once for each shard.
 * Return: 0 to weir_rolling_shards() - 1.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API uint32_t weir_rolling_shard(const struct weir_rolling *set, uint64_t hash);
/** The number of shards.  Errors: none.  Threads: any.  Progress: wait-free.  Cost: a load. */
WEIR_API uint32_t weir_rolling_shards(const struct weir_rolling *set);

/** As weir_handle_contains(), of the key's shard. */
WEIR_API bool weir_rolling_contains(const struct weir_rolling *set, const void *key, size_t len);
/** As weir_handle_contains_hash(), of the hash's shard. */
WEIR_API bool weir_rolling_contains_hash(const struct weir_rolling *set, uint64_t hash);
/** As weir_handle_insert(), of the key's shard. */
WEIR_API int weir_rolling_insert(struct weir_rolling *set, const void *key, size_t len);
/** As weir_handle_insert_hash(), of the hash's shard. */
WEIR_API int weir_rolling_insert_hash(struct weir_rolling *set, uint64_t hash);
/**
 * As weir_contains_keys(). The call is one section, so keep it below some million keys.
 * Threads, Order, Progress: as weir_handle_contains().
 * Cost: the lines of 64 keys are fetched together, so that their cache misses overlap. In cache it
 *   is no faster than single lookups.
 */
WEIR_API int64_t weir_rolling_contains_keys(const struct weir_rolling *set, struct weir_keys keys,
                                            uint64_t *bitmap);
/**
 * As weir_rolling_contains_keys(), of inserts.
 * @bitmap, Return: as weir_insert_keys(). After an error the keys before the one that its shard
 *   refused are inserted: weir_error_taken() says how many.
 * Errors: as weir_handle_insert().
 */
WEIR_API int64_t weir_rolling_insert_keys(struct weir_rolling *set, struct weir_keys keys,
                                          uint64_t *bitmap);

/**
 * As weir_handle_remove(), of the key's shard: -EBUSY only while that shard is being replaced. What
 * handle.h says of the safe order holds with weir_rolling_begin() of the key's shard.
 */
WEIR_API WEIR_MUST_CHECK int weir_rolling_remove(struct weir_rolling *set, const void *key,
                                                 size_t len);
/** As weir_rolling_remove(), of a hash: by weir_rolling_hash() or the caller's own function. */
WEIR_API WEIR_MUST_CHECK int weir_rolling_remove_hash(struct weir_rolling *set, uint64_t hash);
/**
 * As weir_rolling_remove_hash(), of many, one after another. A key that is not there is passed
 * over.
 * @bitmap: as for weir_remove_keys(); NULL if only the count matters. After an error too it says
 *   which keys were removed.
 * Return: how many were removed, or a negative errno.
 * Errors: -EBUSY a key's shard is being replaced: it and the keys after it were not removed;
 *   -ENOTSUP, -EROFS as weir_remove().
 * Threads, Order, Progress: as weir_rolling_remove().
 */
WEIR_API int64_t weir_rolling_remove_keys(struct weir_rolling *set, struct weir_keys keys,
                                          uint64_t *bitmap);
/** As weir_handle_count(), of the key's shard. */
WEIR_API int64_t weir_rolling_count(const struct weir_rolling *set, const void *key, size_t len);
/** As weir_rolling_count(), of a hash: by weir_rolling_hash() or the caller's own function. */
WEIR_API int64_t weir_rolling_count_hash(const struct weir_rolling *set, uint64_t hash);
/**
 * As weir_rolling_count_hash(), of many, one after another.
 * @counts: receives the answer of weir_count() for each key.
 * Return: how many of them are not 0, or a negative errno.  Errors: -ENOTSUP as weir_count().
 * Threads, Order, Progress: as weir_rolling_count().
 */
WEIR_API int64_t weir_rolling_count_keys(const struct weir_rolling *set, struct weir_keys keys,
                                         int64_t *counts);

/**
 * As weir_handle_get(), of a shard: for statistics, and to save the set shard by shard. The shard's
 * hashes are those of the set, rotated left by log2(shards) bits.
 * @shard: 0 to weir_rolling_shards() - 1; not checked.
 */
WEIR_API const struct weir_filter *weir_rolling_get(const struct weir_rolling *set, uint32_t shard);

/**
 * Begin to replace one shard. Use the reload as any other. weir_reload_insert*() takes keys or
 * hashes of the whole set and passes over those of other shards (a single one is answered
 * WEIR_SEEN), so the loader may offer its whole source to each shard.
 * @out: receives the reload; untouched on failure.
 * @shard: 0 to weir_rolling_shards() - 1.
 * @options: as for weir_reload_begin(), but params, max_bytes, keep_previous and defer_free are
 *   refused: the size of the set is fixed, and so is its peak. pace is of each shard's reload. (An
 *   abort inside a read-side section frees its shard after that section, even if another
 *   replacement has begun by then.)
 *   The gate's canaries: those that lie in this shard are looked up there, as the set does it; the
 *   others are left to their own shards. So an unwanted source may replace the shards before the
 *   first one that has a canary.
 *   The gate's figures are of the set with the new shard in it. max_fill, max_fp_rate: a shard that
 *   breaks the limit itself is refused if the set would break it too. min_keys: a shard is refused
 *   if it has far fewer keys than a shard of a set of min_keys keys, by any chance, could have; or
 *   if the set would have fewer than min_keys, while the shard has fewer than it had and than its
 *   share of min_keys, or is the last one of a round (all others were replaced since it was). So a
 *   first load passes, and a source that is empty or cut short is refused, mostly at once. For
 *   these figures a commit reads up to 64 MiB of the other shards and 4 KiB of each, and before a
 *   refusal all of them.
 *   The gate's check is refused: use weir_reload_next() before the commit. Its hashes are rotated
 *   (weir_rolling_get()).
 * Return: 0 or a negative errno.
 * Errors: as weir_reload_begin(); -EBUSY another shard is being replaced; -EINVAL @shard, or an
 *   option, or the gate's check, that is refused.
 * Threads: any; one replacement at a time.  Progress: blocking (memory, a grace period).
 */
WEIR_API WEIR_MUST_CHECK int weir_rolling_begin(struct weir_reload **out, struct weir_rolling *set,
                                                uint32_t shard,
                                                const struct weir_reload_options *options);

/** Offers the source to the reload of one shard. Return: 0, or a negative errno to stop. */
typedef int weir_rolling_fill_fn(struct weir_reload *r, uint32_t shard, void *context);
/**
 * Replace all shards, one after another: begin, @fill, commit.
 * @options: as for weir_rolling_begin().
 * @fill: called once for each shard, with @context.
 * Return: 0 or the first failure. Then the shards before it are new, that one and those after it
 *   are old, and you may call again.
 * Errors: as weir_rolling_begin() and weir_reload_commit(); the answer of @fill.
 * Threads, Progress: as weir_rolling_begin().
 */
WEIR_API WEIR_MUST_CHECK int weir_rolling_reload(struct weir_rolling *set,
                                                 const struct weir_reload_options *options,
                                                 weir_rolling_fill_fn *fill, void *context);

/** A set's figures. Start from WEIR_ROLLING_STATS_INIT. */
struct weir_rolling_stats {
	size_t struct_size;       /* sizeof(struct weir_rolling_stats) */
	uint32_t shards;          /* as given to weir_rolling_create() */
	uint64_t bytes;           /* of bits, with the shard that is being made */
	uint64_t oldest, newest;  /* generations of shards: 1, then one more with each commit */
	double fill, fill_max;    /* share of bits set: of the set, of the fullest shard */
	double keys_estimated;    /* distinct keys, from the fill */
	double fp_rate_estimated; /* of random absent keys now */
};
#define WEIR_ROLLING_STATS_INIT \
	{ sizeof(struct weir_rolling_stats), 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0 }
/**
 * The set's figures now.
 * @out: from WEIR_ROLLING_STATS_INIT.
 * Return: 0 or a negative errno.  Errors: -EINVAL struct_size.
 * Threads, Progress: as weir_handle_contains().  Cost: as weir_measure() of each shard.
 */
WEIR_API WEIR_MUST_CHECK int weir_rolling_stats(const struct weir_rolling *set,
                                                struct weir_rolling_stats *out);

WEIR_END_DECLS

#endif
