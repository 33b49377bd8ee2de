/* SPDX-License-Identifier: MIT
 * A set that is too large to hold twice, replaced one shard at a time: the peak is the set and one
 * shard.
 *
 * A key lives in one shard, so every lookup is answered wholly by the old contents or wholly by the
 * new ones of its shard. The set as a whole is mixed while a replacement runs: some shards new,
 * some old; that is the weaker promise of this form. What handle.h promises to inserts holds here
 * shard by shard: weir_rolling_begin() of the key's shard stands where weir_reload_begin() stands
 * there.
 *
 * Each shard is a filter with a record of its own behind a table, so a lookup costs one load more
 * than through a handle. Filters and handles that are not made for rolling pay nothing.
 */
#ifndef WEIR_ROLLING_H
#define WEIR_ROLLING_H

#include <weir/reload.h>

WEIR_BEGIN_DECLS

struct weir_rolling;

/**
 * Make an empty set.
 * @params: of the whole set, as for weir_create(); memory must be NULL. Each shard has room for its
 *   share of the capacity and the spread of random hashes, and takes its share of max_bytes at
 *   most.
 * @shards: a power of two from 2 to 65536.
 * @flavor: as for weir_handle_create().
 * Return: 0 or a negative errno.  Errors: as weir_create(); -EINVAL shards, or memory given.
 * Threads: any.
 */
WEIR_API WEIR_MUST_CHECK int weir_rolling_create(struct weir_rolling **out,
                                                 const struct weir_params *params, uint32_t shards,
                                                 const struct rcu_flavor_struct *flavor);
/** As weir_handle_destroy(), of all shards. */
WEIR_API int weir_rolling_destroy(struct weir_rolling *set);

/** As weir_hash(): the hash that the _hash verbs take; one seed for all shards and for ever. */
WEIR_API uint64_t weir_rolling_hash(const struct weir_rolling *set, const void *key, size_t len);
/** The shard of a hash: its top bits. A loader that partitions its source by this reads it once
 * instead of once a shard. */
WEIR_API uint32_t weir_rolling_shard(const struct weir_rolling *set, uint64_t hash);
/** How many shards there are. */
WEIR_API uint32_t weir_rolling_shards(const struct weir_rolling *set);

/** As weir_handle_contains() and weir_handle_insert() of the key's shard: Threads, Order,
 * Progress as there. */
WEIR_API bool weir_rolling_contains(const struct weir_rolling *set, const void *key, size_t len);
WEIR_API bool weir_rolling_contains_hash(const struct weir_rolling *set, uint64_t hash);
WEIR_API int weir_rolling_insert(struct weir_rolling *set, const void *key, size_t len);
WEIR_API int weir_rolling_insert_hash(struct weir_rolling *set, uint64_t hash);
/** Batches, as in filter.h: the lines of 64 keys are fetched together, so their misses overlap;
 * in cache no faster than single verbs. One section a call: keep it below some million keys. */
WEIR_API size_t weir_rolling_contains_hashes(const struct weir_rolling *set, const uint64_t *hashes,
                                             size_t n, uint64_t *bitmap);
WEIR_API int64_t weir_rolling_insert_hashes(struct weir_rolling *set, const uint64_t *hashes,
                                            size_t n, uint64_t *bitmap);

/**
 * The current filter of a shard, in the caller's own read-side section, as weir_handle_get(): for
 * statistics, and for saving it shard by shard. Its own hashes are the set's, rotated left by
 * log2(shards) bits.
 */
WEIR_API const struct weir_filter *weir_rolling_get(const struct weir_rolling *set, uint32_t shard);

/**
 * Begin the replacement of one shard. The reload is used as any other: weir_reload_insert*() with
 * keys or hashes of the whole set, of which those of other shards are passed over (answered
 * WEIR_SEEN), so the loader may offer its whole source each time; weir_reload_copy(), _commit(),
 * _abort().
 * @options: as for weir_reload_begin(); params, max_bytes, keep_previous and defer_free are
 *   refused: the set's size is fixed, and so is its peak (but an abort inside a read-side section
 *   frees its shard after that section, whatever begins meanwhile).
 * Return: 0 or a negative errno.  Errors: -EBUSY another shard's replacement is open; -EINVAL the
 *   shard, or those options; as weir_reload_begin().
 * Threads: any one.  Progress: blocking (a grace period).
 */
WEIR_API WEIR_MUST_CHECK int weir_rolling_begin(struct weir_reload **out, struct weir_rolling *set,
                                                uint32_t shard,
                                                const struct weir_reload_options *options);

/** Offers the source to one shard's reload. Return: 0, or a negative errno to stop. */
typedef int weir_rolling_fill_fn(struct weir_reload *r, uint32_t shard, void *context);
/**
 * Replace all shards, one after another: begin, @fill, commit.
 * Return: 0 or what failed first: then the shards before are new, that one and those after it old;
 *   calling again is harmless.
 * Errors: as weir_rolling_begin(), weir_reload_commit(); what @fill returned.
 */
WEIR_API WEIR_MUST_CHECK int weir_rolling_reload(struct weir_rolling *set,
                                                 const struct weir_reload_options *options,
                                                 weir_rolling_fill_fn *fill, void *context);

/** What the set holds. Start from WEIR_ROLLING_STATS_INIT. */
struct weir_rolling_stats {
	size_t struct_size;
	uint32_t shards;
	uint64_t bytes;           /* of bits, with the shard that is being made */
	uint64_t oldest, newest;  /* generation of the shards: how often each was replaced, and 1 */
	double fill, fill_max;    /* share of bits set: of the set, of the fullest shard */
	double keys_estimated;
	double fp_rate_estimated; /* of a random absent key now */
};
#define WEIR_ROLLING_STATS_INIT \
	{ \
		sizeof(struct weir_rolling_stats), 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0 \
	}
/** Return: 0 or -EINVAL (struct_size).  Threads: any, registered.  Progress: wait-free.  Cost: as
 *   weir_stats() of each shard. */
WEIR_API WEIR_MUST_CHECK int weir_rolling_stats(const struct weir_rolling *set,
                                                struct weir_rolling_stats *out);

WEIR_END_DECLS

#endif
