/* SPDX-License-Identifier: MIT
 * A filter and the verbs on it.
 *
 * Who may call what with whom (X: at the same time on one filter, -: not):
 *
 *                      contains insert merge(src) merge(dst) stats,clone,save load_hashes destroy
 *   contains              X       X        X         X             X              -         -
 *   insert                X       X        X         X             X              -         -
 *   merge (as src)        X       X        X         X             X              -         -
 *   merge (as dst)        X       X        X         X             X              -         -
 *   stats, clone, save    X       X        X         X             X              -         -
 *   load_hashes           -       -        -         -             -              X         -
 *   destroy               -       -        -         -             -              -         -
 *
 * What is wait-free: weir_hash, contains (all forms) and insert by key and by hash (all forms up to
 * 64 Ki keys a call; above, the batch may allocate scratch memory) of the blocked and classic
 * kinds. Nothing here ever takes a lock except weir_load_hashes.
 *
 * Order: an insert that happens-before a lookup is seen by it. Bits only go from 0 to 1 (invariant
 * B1 in word.h), so coherence of each word is all that takes, and all accesses are relaxed: weir
 * orders nothing else for its caller.
 */
#ifndef WEIR_FILTER_H
#define WEIR_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <weir/export.h>
#include <weir/params.h>

WEIR_BEGIN_DECLS

struct weir_filter; /* opaque but for its head */

/** The head of every filter: the functions chosen for it at creation. Frozen, so that the verbs
 * below cost one indirect call and no more; call the verbs, not these. */
struct weir_verbs {
	bool (*contains)(const struct weir_filter *f, const void *key, size_t len);
	bool (*contains_hash)(const struct weir_filter *f, uint64_t hash);
	int (*insert)(struct weir_filter *f, const void *key, size_t len);
	int (*insert_hash)(struct weir_filter *f, uint64_t hash);
};

/** What an insert answers. */
enum weir_inserted {
	WEIR_SEEN = 0, /* every bit was set: the key may have been there */
	WEIR_NEW = 1,  /* at least one bit was 0: the key was certainly not there */
};

/** Words of a bitmap that answers for @n keys: key i in bit i % 64 of word i / 64. */
#define WEIR_BITMAP_WORDS(n) (((size_t)(n) + 63) / 64)

/**
 * Create an empty filter.
 * @out: receives the filter; untouched on failure.
 * @params: from WEIR_PARAMS_INIT.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL, -EFBIG as weir_plan(), and memory too small or misaligned; -ENOMEM; -ENOTSUP
 *   unknown kind, or WEIR_ISA in the environment names an instruction set this machine or kind
 *   lacks.
 * Threads: any.  Progress: blocking (memory).  Cost: zeroed pages come from the kernel and are
 *   touched on first use.
 */
WEIR_API WEIR_MUST_CHECK int weir_create(struct weir_filter **out,
                                         const struct weir_params *params);

/**
 * Free a filter and the memory it owns. No other thread may be using it or start to.
 * @f: a filter, or NULL for nothing.
 * Threads: the last user.
 */
WEIR_API void weir_destroy(struct weir_filter *f);

/**
 * The 64-bit hash of a key: XXH3_64bits_withSeed(key, len, seed of @f).
 * The _hash verbs take any uniformly distributed 64-bit value: who needs protection against chosen
 * keys passes his own keyed hash (SipHash). One filter must be given hashes of one function only.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: the hash.
 * Threads: any.  Progress: wait-free.  Cost: about 2 ns up to 16 bytes, 10 bytes a ns beyond 240.
 */
WEIR_API uint64_t weir_hash(const struct weir_filter *f, const void *key, size_t len);

/** Hashes of @n keys, as weir_hash() of each, into @out. Wait-free. */
WEIR_API void weir_hash_keys(const struct weir_filter *f, const struct iovec *keys, size_t n,
                             uint64_t *out);
/** Hashes of @n keys of @key_bytes bytes each, side by side, into @out. 8-byte keys are hashed
 * eight at a time where the CPU can. */
WEIR_API void weir_hash_fixed(const struct weir_filter *f, const void *keys, size_t key_bytes,
                              size_t n, uint64_t *out);

/**
 * Insert a key.
 * Return: WEIR_NEW, WEIR_SEEN, or a negative errno where a kind can refuse (blocked and classic
 *   cannot).
 *   Of threads inserting one new key at once at least one is told WEIR_NEW; with words_per_key = 1
 *     exactly one.
 * Errors: -EROFS the filter is mapped read-only; -ENOTSUP a kind without insert.
 * Threads: any, with lookups and inserts.  Order: relaxed, see above.  Progress: wait-free.
 * Cost: one cache line; nothing is written when every bit is there; else words_per_key atomic or's.
 */
WEIR_API inline int weir_insert(struct weir_filter *f, const void *key, size_t len)
{
	return ((const struct weir_verbs *)f)->insert(f, key, len);
}
/** As weir_insert(), of a key that weir_hash() or the caller's own function has hashed. */
WEIR_API inline int weir_insert_hash(struct weir_filter *f, uint64_t hash)
{
	return ((const struct weir_verbs *)f)->insert_hash(f, hash);
}

/**
 * Might this key be in the set?
 * Return: false: certainly not. true: it was inserted, or (with probability fp_rate when full) it
 *   was not.
 * Errors: none.  Threads: any.  Order: relaxed: every insert that happens-before this call is seen.
 * Progress: wait-free, writes nothing.  Cost: blocked one cache line; classic up to k.
 */
WEIR_API inline bool weir_contains(const struct weir_filter *f, const void *key, size_t len)
{
	return ((const struct weir_verbs *)f)->contains(f, key, len);
}
/** As weir_contains(), of a hash. */
WEIR_API inline bool weir_contains_hash(const struct weir_filter *f, uint64_t hash)
{
	return ((const struct weir_verbs *)f)->contains_hash(f, hash);
}

/**
 * Batches: hash, prefetch, then test, so that the misses of many keys overlap.
 * @n: how many keys, any number, 0 too.
 * @bitmap: WEIR_BITMAP_WORDS(n) words that receive the answers, bits past n cleared; may be NULL if
 *   only the count matters.
 * Return: how many may be in the set.
 * Threads, Order, Progress: as weir_contains() for each key by itself, in no particular order.
 * Cost: from about 2 ns a key in cache; about one random cache line a key beyond.
 */
WEIR_API size_t weir_contains_hashes(const struct weir_filter *f, const uint64_t *hashes, size_t n,
                                     uint64_t *bitmap);
/** As weir_contains_hashes(), of keys of any length each. */
WEIR_API size_t weir_contains_keys(const struct weir_filter *f, const struct iovec *keys, size_t n,
                                   uint64_t *bitmap);
/** As weir_contains_hashes(), of @n keys of @key_bytes bytes each, side by side; 8 bytes is the
 * fastest width. */
WEIR_API size_t weir_contains_fixed(const struct weir_filter *f, const void *keys, size_t key_bytes,
                                    size_t n, uint64_t *bitmap);

/**
 * Batches of inserts.
 * @bitmap: as for weir_contains_hashes(), receives which keys were WEIR_NEW; may be NULL.
 * Return: how many were WEIR_NEW, or a negative errno (then none was inserted).
 *   Within one batch keys may be taken in any order: of two equal new keys at least one is told
 *     WEIR_NEW.
 * Errors: -EROFS, -ENOTSUP as weir_insert(). A lack of scratch memory only makes it slower.
 * Threads, Order: as weir_insert() for each key by itself.
 * Progress: wait-free up to 64 Ki keys; a larger batch into a filter larger than the cache first
 *   sorts hashes by shard in scratch memory (8 to 16 bytes a key of at most 16 Mi keys at a time),
 *   so that writes stay in cache.
 */
WEIR_API int64_t weir_insert_hashes(struct weir_filter *f, const uint64_t *hashes, size_t n,
                                    uint64_t *bitmap);
WEIR_API int64_t weir_insert_keys(struct weir_filter *f, const struct iovec *keys, size_t n,
                                  uint64_t *bitmap);
WEIR_API int64_t weir_insert_fixed(struct weir_filter *f, const void *keys, size_t key_bytes,
                                   size_t n, uint64_t *bitmap);

/**
 * Bulk-load a private filter: one that no thread looks up or inserts into yet, by plain stores,
 * without atomic operations. Several threads may load one filter at the same time, each with hashes
 * of its own: a shard has one owner at a time. Into a WEIR_MAP_LIVE image, which other processes
 * may insert into, it inserts atomically instead, as weir_insert_hashes().
 * @hashes: @n hashes, as weir_hash() makes them, in any order.
 * Return: 0 or a negative errno (then nothing was loaded).
 * Errors: -ENOMEM no scratch memory (8 bytes a key, at most 128 MiB a thread); -EROFS; -ENOTSUP.
 * Threads: other weir_load_hashes() calls only. Publish the filter to others afterwards, with
 *   release order (an unlock, a thread join, an rcu_assign_pointer).
 * Progress: blocking: a shard's owner is waited for.  Cost: memory bandwidth rather than latency.
 */
WEIR_API WEIR_MUST_CHECK int weir_load_hashes(struct weir_filter *f, const uint64_t *hashes,
                                              size_t n);

/**
 * Remove a key that was inserted: each removal needs a completed insert of its own, and removing
 * what was not inserted makes false negatives of other keys.
 * Return: 0 or a negative errno.
 * Errors: -ENOTSUP the kind cannot (blocked and classic cannot); -ENOENT the key is not there;
 *   -EROFS the filter is mapped read-only.
 * Threads: any, with lookups and inserts.  Cost: as weir_insert().
 */
WEIR_API WEIR_MUST_CHECK int weir_remove(struct weir_filter *f, const void *key, size_t len);
/** As weir_remove(), of a hash. */
WEIR_API WEIR_MUST_CHECK int weir_remove_hash(struct weir_filter *f, uint64_t hash);
/**
 * Batches of removals: as weir_remove() of each key.
 * @bitmap: as for weir_contains_hashes(), receives which keys were removed; may be NULL.
 * Return: how many were removed, or a negative errno (then none was).  Errors: as weir_remove().
 */
WEIR_API int64_t weir_remove_hashes(struct weir_filter *f, const uint64_t *hashes, size_t n,
                                    uint64_t *bitmap);
WEIR_API int64_t weir_remove_keys(struct weir_filter *f, const struct iovec *keys, size_t n,
                                  uint64_t *bitmap);
WEIR_API int64_t weir_remove_fixed(struct weir_filter *f, const void *keys, size_t key_bytes,
                                   size_t n, uint64_t *bitmap);

/**
 * How often a key was inserted, at most.
 * Return: the count, or a negative errno.
 * Errors: -ENOTSUP the kind cannot (blocked and classic cannot); others are the kind's own.
 * Threads: any, with lookups and inserts.  Progress: wait-free.  Cost: as weir_contains().
 */
WEIR_API int64_t weir_count(const struct weir_filter *f, const void *key, size_t len);
/** As weir_count(), of a hash. */
WEIR_API int64_t weir_count_hash(const struct weir_filter *f, uint64_t hash);
/**
 * Batches of counts.
 * @counts: receives for each of @n keys what weir_count() answers.
 * Return: 0, or -ENOTSUP the kind cannot (then @counts is untouched).
 */
WEIR_API WEIR_MUST_CHECK int weir_count_hashes(const struct weir_filter *f, const uint64_t *hashes,
                                               size_t n, int64_t *counts);
WEIR_API WEIR_MUST_CHECK int weir_count_keys(const struct weir_filter *f, const struct iovec *keys,
                                             size_t n, int64_t *counts);
WEIR_API WEIR_MUST_CHECK int weir_count_fixed(const struct weir_filter *f, const void *keys,
                                              size_t key_bytes, size_t n, int64_t *counts);

/**
 * Union: afterwards @dst answers true wherever @src does.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL the two differ in kind, size, layout or seed: weir_error_detail() names the field
 *   and both values; -EROFS; -ENOTSUP.
 * Threads: any, with lookups and inserts on both. Inserts into @src that are concurrent with the
 *   call may or may not be carried.
 * Progress: wait-free.  Cost: reads both, writes the words that change.
 */
WEIR_API WEIR_MUST_CHECK int weir_merge(struct weir_filter *dst, const struct weir_filter *src);

/**
 * A private copy with the same layout, seed and bits.
 * Errors: -ENOMEM; -ENOTSUP.  Threads: any; inserts concurrent with the call may or may not be
 *   carried.
 */
WEIR_API WEIR_MUST_CHECK int weir_clone(struct weir_filter **out, const struct weir_filter *f);

/**
 * A smaller copy: a filter made too large, folded before it is published. Answers true wherever @f
 * does; its rate is that of a filter of bytes / factor with the same keys. Its capacity and fp_rate
 * are those of the smaller size: weir_stats() tells.
 * @factor: a power of two that divides the number of blocks: any up to weir_plan's shards.
 * Errors: -EINVAL a factor that does not divide; -ENOMEM; -ENOTSUP.  Threads: as weir_clone().
 */
WEIR_API WEIR_MUST_CHECK int weir_fold(struct weir_filter **out, const struct weir_filter *f,
                                       uint32_t factor);

/** What the bits say. Start from WEIR_STATS_INIT. */
struct weir_stats {
	size_t struct_size;       /* sizeof(struct weir_stats) */
	struct weir_shape shape;  /* its kind and the kind's own numbers */
	uint32_t shards;
	uint64_t bytes;           /* of bits */
	uint64_t capacity;        /* keys, as asked */
	double fp_rate;           /* asked */
	double fill;              /* share of bits set, 0 to 1 */
	double fill_max;          /* of the fullest shard looked at */
	double keys_estimated;    /* distinct keys, from the fill; infinite if every bit is set */
	/* of a lookup of a random absent key now, from the bits themselves */
	double fp_rate_estimated;
	double sampled;           /* share of the bits that was read, 0 to 1 */
	/* more keys than capacity, beyond the estimate's error: the rate is above the one asked */
	bool saturated;
	const char *isa;          /* the kernel in use: "scalar", "avx2", "avx512" or "neon" */
	uint64_t seed_fingerprint;/* equal for equal seeds; the seed itself is not shown */
};

#define WEIR_STATS_INIT \
	{ sizeof(struct weir_stats), { 0, { 0 } }, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, false, 0, 0 }

/**
 * Statistics from the bits themselves: whole below 1 MiB, else a sample of 1 MiB, a run of lines
 * from each of up to 256 shards.
 * Return: 0 or a negative errno.  Errors: -EINVAL struct_size is 0 or larger than this library's.
 * Threads: any.  Progress: wait-free, writes nothing shared.  Cost: up to 0.5 ms.
 */
WEIR_API WEIR_MUST_CHECK int weir_stats(const struct weir_filter *f, struct weir_stats *out);
/** As weir_stats(), of every bit.  Cost: memory bandwidth. */
WEIR_API WEIR_MUST_CHECK int weir_stats_exact(const struct weir_filter *f, struct weir_stats *out);

/**
 * Parameters with which weir_create() makes an empty filter that weir_merge() accepts: same kind,
 * size, layout and seed. The seed is in it: keep it from clients. memory is NULL.
 * @out: from WEIR_PARAMS_INIT.
 * Return: 0 or a negative errno.  Errors: -EINVAL struct_size.
 * Threads: any.  Progress: wait-free.
 */
WEIR_API WEIR_MUST_CHECK int weir_params_of(const struct weir_filter *f, struct weir_params *out);

WEIR_END_DECLS

#endif
