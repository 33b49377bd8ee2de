/* SPDX-License-Identifier: MIT
 * A filter and its verbs, the functions that use it. A filter tells in a few nanoseconds whether a
 * key may be in a set. It answers true for every key that was inserted, and by mistake for a small
 * share of all other keys (false positives, fp_rate).
 *
 *     struct weir_params params = WEIR_PARAMS_INIT;
 *     struct weir_filter *f;
 *     params.capacity = 1000000;
 *     params.fp_rate = 0.01;
 *     if (weir_create(&f, &params) < 0)
 *             puts(weir_error_detail());
 *     weir_insert(f, key, len);
 *     if (weir_contains(f, key, len)) ...
 *     weir_destroy(f);
 *
 * Threads. X means that both calls may run at the same time on one filter, - that they may not.
 *
 *                      contains insert merge(src) merge(dst) stats,clone,save fill_keys   destroy
 *   contains              X       X        X         X             X              -         -
 *   insert                X       X        X         X             X              -         -
 *   merge (as src)        X       X        X         X             X              -         -
 *   merge (as dst)        X       X        X         X             X              -         -
 *   stats, clone, save    X       X        X         X             X              -         -
 *   fill_keys             -       -        -         -             -              X         -
 *   destroy               -       -        -         -             -              -         -
 *
 * A removal counts as an insert, a count as a lookup, and weir_fold() as weir_clone(). Counting
 * filters have one more rule, below.
 *
 * Order. A lookup sees every insert that happens-before it. In the blocked and classic kinds bits
 * only go from 0 to 1, so coherence of each word is enough for this order (invariant
 * [BITS-ONLY-SET] in word.h). All accesses are relaxed: they do not order the caller's accesses to
 * other memory.
 *
 * Progress. In the blocked and classic kinds weir_hash(), lookups and inserts are wait-free and
 * never allocate memory. Only weir_fill_keys() allocates, and waits for other threads. In counting
 * and frequency lookups and counts are wait-free, inserts and removals lock-free.
 *
 * Stack. A call that takes keys uses at most 6 KiB of stack, batches included. Batches of the
 * layered kind, and cuckoo inserts that move fingerprints, use 7 KiB. Batches of texts, and cuckoo
 * inserts that move fingerprints during a reload, use 9 KiB.
 *
 * Numbers. The verbs named _u64 take a uint64_t by value. The key is the eight bytes of the number
 * in this machine's memory. So weir_contains_u64(f, n) answers as weir_contains(f, &n, 8) in every
 * kind, keyed or not, and finds the keys that weir_insert() inserted. A set that normalises text
 * (text.h) is an exception, since it leaves numbers as they are. Machines of both byte orders that
 * share an image must agree on these bytes, for example by htole64(n).
 *
 * NULL. In this and the other headers an argument may be NULL if its description says so (the
 * object to destroy, a key of no bytes, an unwanted bitmap, default options). The keys, hashes or
 * counts of an empty batch may be NULL too. A function that lists -EINVAL for NULL (most @out,
 * @params and @path) returns that error. Any other NULL is the caller's error, as in libc, and may
 * crash, since no verb spends an instruction on a check.
 *
 * Counting. No insert or removal may run while a counting filter is merged, cloned, folded or
 * saved. The copy could have only some of a key's counters, and removing the key from the copy
 * would then lower counters of other keys. A debug build (-Dbuildtype=debug) aborts a program that
 * breaks this rule. A handle's reload and refresh may copy during live inserts (reload.h): such a
 * copy may over-count a key that is inserted at that time, but never under-counts it.
 *
 * Cuckoo. Each insert stores a fingerprint in one of the key's two buckets.
 *   - Lookups are wait-free and write nothing. If other threads move or remove the key's
 *     fingerprint during each of several tries, the lookup answers true.
 *   - An insert is lock-free if one of the buckets has a free slot. If both are full, the insert
 *     moves other fingerprints. Inserts that move fingerprints, and removals, wait for other
 *     threads that move or remove the same fingerprints. They also wait while the filter is cloned,
 *     saved or merged into another. A handle's insert waits in its section: grace periods wait too.
 *   - A full filter refuses an insert (-ENOSPC), which then adds, loses or duplicates no key. If a
 *     filter gets at most capacity different keys, the chance of a refusal is one in a million.
 *   - The two buckets hold at most 8 copies of one key (16-bit fingerprints) or 10 (12-bit), at any
 *     load. If both are the same bucket, it holds half as many copies. This happens to 1 of 200
 *     keys at a capacity of 1000, and to fewer keys in larger filters. If every key is inserted
 *     twice, the first refusal comes at 94 % of capacity (12-bit) or 91 % (16-bit). If every key is
 *     inserted three times, it comes at 82 % or 72 %; if four times, at 58 to 67 % (12-bit) or 54 %
 *     (16-bit). If one key in a hundred is inserted 6 times, it comes far earlier.
 *   - A refused insert costs 35 us, since it has searched for a slot; an insert into an empty
 *     filter costs 0.02 us. So do not retry a refused insert at each request.
 *   - With WEIR_ONCE (params.h) the filter stores one copy of a key, or one for each thread that
 *     races to insert it first. Keys can then not be removed.
 *   - A merge adds the copies of both filters. It fails with -EAGAIN if it must move a fingerprint
 *     in the destination while another thread copies the destination.
 *   - A clone, image or merged filter may lack a key whose insert ran during the call: do not
 *     remove such a key from it.
 *   - A cuckoo image cannot be mapped WEIR_MAP_LIVE. A child of fork() may use its copy of the
 *     filter. If fork() came while another thread moved a fingerprint, the copy may have it twice.
 */
#ifndef WEIR_FILTER_H
#define WEIR_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/keys.h>
#include <weir/params.h>

WEIR_BEGIN_DECLS

struct weir_filter; /* opaque, except for its head */

/** The head of every filter: functions that the library chooses when it makes the filter. The
 * layout never changes, so the verbs below compile to one indirect call. Call only the verbs. */
struct weir_verbs {
	bool (*contains)(const struct weir_filter *f, const void *key, size_t len);
	bool (*contains_hash)(const struct weir_filter *f, uint64_t hash);
	int (*insert)(struct weir_filter *f, const void *key, size_t len);
	int (*insert_hash)(struct weir_filter *f, uint64_t hash);
	bool (*contains_u64)(const struct weir_filter *f, uint64_t key);
	int (*insert_u64)(struct weir_filter *f, uint64_t key);
};

/** Results of an insert. */
enum weir_inserted {
	WEIR_SEEN = 0, /* every bit was set: the key may have been present */
	WEIR_NEW = 1,  /* a bit was 0 (cuckoo: neither bucket had an equal fingerprint), so the key
	                  was certainly absent */
};

/**
 * Create an empty filter. A fuse or layered filter stays empty, since these kinds take no inserts
 * (-ENOTSUP): build it from its keys by weir_build() or weir_builder_create() (build.h).
 * @out: receives the filter; untouched on failure.
 * @params: from WEIR_PARAMS_INIT.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL, -EFBIG as weir_plan_make(); -EINVAL if @out is NULL, memory is too small or
 *   misaligned, or seed does not fit secret (params.h); -ENOMEM; -ENOTSUP if the kind is unknown,
 *   or the environment variable WEIR_ISA names an instruction set that this machine or kind lacks;
 *   the errno of getrandom().
 * Threads: any.  Progress: blocking (memory).
 * Cost: the call zeroes all bytes of a filter below 2 MiB or in the caller's memory. In any other
 *   filter the kernel zeroes each page on first use.
 */
WEIR_API WEIR_MUST_CHECK int weir_create(struct weir_filter **out,
                                         const struct weir_params *params);

/**
 * Free a filter and the memory it owns. No other thread may use it any more.
 * @f: a filter; NULL is a no-op.
 * Return: 0 or a negative errno.
 * Errors: -EBUSY if a handle owns the filter; the handle frees it (handle.h).
 * Threads: the last user.  Progress: blocking (memory).
 */
WEIR_API int weir_destroy(struct weir_filter *f);

/**
 * Test what a filter can do now.
 * @what: abilities to test, or'ed (enum weir_ability), such as WEIR_CAN_REMOVE or WEIR_CAN_ALL.
 * Return: the abilities in @what that the filter has. A filter that is mapped read-only takes no
 *   inserts and no removals. WEIR_CAN_DECIDE needs words_per_key = 1.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API uint32_t weir_can(const struct weir_filter *f, uint32_t what);

/**
 * Hash a key with the seed or secret of a filter, for its _hash verbs. A keyed filter of any kind
 * hashes by SipHash-2-4 with weir_params.secret. Any other filter hashes by
 * XXH3_64bits_withSeed(key, len, seed of @f), or in the split kind by XXH64 with seed 0.
 *
 * The _hash verbs take this value, or the hash of your own function if it is uniform in all 64
 * bits, as XXH3, SipHash and wyhash are. Give all other numbers to the _u64 verbs, which mix and
 * seed them, in inserts and in lookups: 32-bit hashes (FNV-1a 32, murmur3_32, CRC32), counters,
 * addresses, times. In a _hash verb such numbers make a filter answer true for every key (see
 * weir_stats.hashes_uneven), and make a cuckoo filter refuse most keys (-ENOSPC). All hashes that
 * you give to one filter must come from one function.
 *
 * Hashes of b well-mixed bits add n / 2^b to the rate of n keys. weir_measure() cannot see this in
 * the bits of the filter. The split kind selects a block of 32 bytes by the upper 32 bits, and bits
 * in the block by the lower 32 bits alone. If the lower halves take only v values, that adds
 * n / (v * blocks) to the rate, or 25 / v at 1 %.
 *
 * If clients can choose keys, make the filter keyed.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: the hash.
 * Errors: none.  Threads: any.  Progress: wait-free.
 * Cost: about 2 ns up to 16 bytes, 10 bytes a ns beyond 240; by SipHash about 20 ns up to 16 bytes,
 *   one byte a ns beyond.
 */
WEIR_API uint64_t weir_hash(const struct weir_filter *f, const void *key, size_t len);

/** As weir_hash(), for the eight bytes at &key, which are never normalised (text.h). */
WEIR_API uint64_t weir_hash_u64(const struct weir_filter *f, uint64_t key);
/** As weir_hash(), for each key of a batch, into @out. With XXH3 and AVX-512 the call hashes eight
 * 8-byte keys at a time. */
WEIR_API void weir_hash_keys(const struct weir_filter *f, struct weir_keys keys, uint64_t *out);

/**
 * Insert a key.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: WEIR_NEW, WEIR_SEEN or a negative errno. If several threads insert one new key at the
 *   same time, at least one gets WEIR_NEW. If the filter has WEIR_CAN_DECIDE, exactly one does.
 * Errors: -EROFS if the filter is mapped read-only; -ENOTSUP if the kind takes no inserts; -EINVAL
 *   if a set with normalisation cannot parse the text, or is closed and has no key of this length
 *   (<weir/text.h>); errors of the kind (blocked and classic have none).
 * Threads: any, with lookups and inserts.  Order: relaxed, see <weir/filter.h>.
 * Progress: wait-free.
 * Cost: blocked one cache line, classic up to k. If every bit is set already, nothing is written.
 *   Otherwise blocked takes words_per_key atomic or's, classic one for each bit that was 0.
 */
WEIR_API inline int weir_insert(struct weir_filter *f, const void *key, size_t len)
{
	return ((const struct weir_verbs *)f)->insert(f, key, len);
}
/** As weir_insert(), for a hash: by weir_hash(), or by your own function if it is uniform in all
 * 64 bits. Errors: also -EINVAL with cidr or suffixes (text.h). */
WEIR_API inline int weir_insert_hash(struct weir_filter *f, uint64_t hash)
{
	return ((const struct weir_verbs *)f)->insert_hash(f, hash);
}
/** As weir_insert(), for the eight bytes at &key: their hash is weir_hash_u64(f, key). */
WEIR_API inline int weir_insert_u64(struct weir_filter *f, uint64_t key)
{
	return ((const struct weir_verbs *)f)->insert_u64(f, key);
}

/**
 * Test whether a key may be in the set.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: false if the key is certainly absent; true if it may be present. A full filter returns
 *   true for the share fp_rate of absent keys.
 * Errors: none.  Threads: any.  Order: relaxed; it sees every insert that happens-before this call.
 * Progress: wait-free, writes nothing.  Cost: blocked one cache line, classic up to k.
 */
WEIR_API inline bool weir_contains(const struct weir_filter *f, const void *key, size_t len)
{
	return ((const struct weir_verbs *)f)->contains(f, key, len);
}
/** As weir_contains(), for a hash. Return: always true with cidr or suffixes (text.h). */
WEIR_API inline bool weir_contains_hash(const struct weir_filter *f, uint64_t hash)
{
	return ((const struct weir_verbs *)f)->contains_hash(f, hash);
}
/** As weir_contains(), for the eight bytes at &key: their hash is weir_hash_u64(f, key). */
WEIR_API inline bool weir_contains_u64(const struct weir_filter *f, uint64_t key)
{
	return ((const struct weir_verbs *)f)->contains_u64(f, key);
}

/**
 * Look up a batch: hash, prefetch, then test, so that the cache misses of many keys overlap.
 * @keys: of any form (<weir/keys.h>). Numbers and fixed keys of 8 bytes are hashed the fastest.
 * @bitmap: WEIR_BITMAP_WORDS(n) words that receive the answers, bits past n cleared; NULL if only
 *   the count matters.
 * Return: how many keys may be in the set.
 * Errors: none.  Threads, Order, Progress: as weir_contains() of each key, in no particular order.
 * Cost: in cache from about 2 ns a key; in larger filters about one random cache line a key. Each
 *   call adds some 10 to 20 ns, and its misses do not overlap with those of the next call.
 */
WEIR_API int64_t weir_contains_keys(const struct weir_filter *f, struct weir_keys keys,
                                    uint64_t *bitmap);

/**
 * Insert a batch, in no particular order. A kind that can refuse keys inserts them in the given
 * order, up to the first key that it refuses.
 * @bitmap: as for weir_contains_keys(); a bit is set if its key was WEIR_NEW. May be NULL. After
 *   -ENOSPC it has the answers of the keys that were inserted.
 * Return: the number of keys that were WEIR_NEW, or a negative errno. If a new key comes several
 *   times, in one batch or in batches of several threads, it is WEIR_NEW at least once. If the
 *   filter has WEIR_CAN_DECIDE, it is WEIR_NEW exactly once.
 * Errors: as weir_insert(). After -EROFS and -ENOTSUP no key was inserted. After -ENOSPC, or
 *   -EINVAL for a text, the keys before the refused key were inserted: weir_error_taken() tells how
 *   many.
 * Threads, Order: as weir_insert() of each key.
 * Progress: wait-free.  Cost: in cache from about 6 ns a key, most of it the atomic or's; in larger
 *   filters about one random cache line a key.
 */
WEIR_API int64_t weir_insert_keys(struct weir_filter *f, struct weir_keys keys, uint64_t *bitmap);

/**
 * Bulk-load a private filter, in which no other thread looks up or inserts yet. Plain stores make
 * this faster than inserts. Several threads may load one filter at the same time, each with keys of
 * its own: one thread at a time owns a region of the filter. If the kind lacks plain stores
 * (classic), or other processes may insert (WEIR_MAP_LIVE), the call works as weir_insert_keys().
 * @keys: of any form, in any order.
 * Return: 0 or a negative errno.
 * Errors: as weir_insert_keys(); -ENOMEM if pthread_atfork() failed when the library was loaded.
 * Threads: other calls of weir_fill_keys() only. A child of fork() may load too, even if another
 *   thread was loading at that moment; the child's copy then has only some of that thread's keys.
 * Order: none; publish the filter afterwards with release order (an unlock, a thread join, an
 *   rcu_assign_pointer).
 * Progress: blocking (a caller sleeps while another thread owns a region that it needs).
 * Cost: 2 to 3 ns a key if the filter fits in the L2 cache, about 4 ns if it fits in the last-level
 *   cache, and the hashing. If the filter is larger than the last-level cache, or several threads
 *   load it, the call sorts keys by region, in scratch memory of 8 bytes a key, at most 137 MiB a
 *   thread. Without that memory it is slower, but does not fail. For such a filter give a call at
 *   least twice as many keys as the filter has lines of 64 bytes, if you have them.
 */
WEIR_API WEIR_MUST_CHECK int weir_fill_keys(struct weir_filter *f, struct weir_keys keys);

/**
 * Remove a key that was inserted. Each removal needs an insert of its own, which happens-before the
 * removal. Removing a key that was never inserted, or more often than it was inserted, may return 1
 * and make other keys false negatives.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: 1 if the key was removed, or stays because all its counters are at their largest value; 0
 *   if it is absent and nothing has changed; or a negative errno. If two threads remove a key that
 *   was inserted once, the thread that gets 0 may have hidden other keys from lookups for a moment.
 * Errors: -ENOTSUP if the kind cannot remove keys (only counting and cuckoo can), or the filter has
 *   WEIR_ONCE; -EROFS if the filter is mapped read-only; -EINVAL if normalisation cannot read the
 *   text.
 * Threads: any, with lookups and inserts.  Order: relaxed, as inserts.
 * Progress: counting lock-free: a thread retries a word only if another thread has changed it.
 *   Cuckoo waits for moves of the same fingerprint, see <weir/filter.h>.
 * Cost: in counting as an insert, words_per_key compare-and-swaps. A counter that has reached its
 *   largest value (weir_stats.counters_stuck) is never lowered again.
 */
WEIR_API WEIR_MUST_CHECK int weir_remove(struct weir_filter *f, const void *key, size_t len);
/** As weir_remove(), for the eight bytes at &key. */
WEIR_API WEIR_MUST_CHECK int weir_remove_u64(struct weir_filter *f, uint64_t key);
/** As weir_remove(), for a hash. Errors: also -EINVAL with cidr or suffixes (text.h). */
WEIR_API WEIR_MUST_CHECK int weir_remove_hash(struct weir_filter *f, uint64_t hash);
/**
 * As weir_remove(), for a batch. The call skips keys that cannot be removed.
 * @bitmap: as for weir_contains_keys(); a bit is set if its key was removed. May be NULL.
 * Return: the number of keys that were removed, or a negative errno.
 * Errors: -ENOTSUP, -EROFS as weir_remove(); -EINVAL for hashes with cidr or suffixes (text.h), or
 *   for a batch of form WEIR_KEYS_NONE. In all cases no key was removed.
 */
WEIR_API int64_t weir_remove_keys(struct weir_filter *f, struct weir_keys keys, uint64_t *bitmap);

/** The count of a key whose counters are at their largest value: at least 2^counter_bits - 1. */
#define WEIR_COUNT_FULL INT64_MAX

/**
 * Count a key.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: an upper bound, never less than the key's inserts that happen-before the call minus its
 *   removals; or WEIR_COUNT_FULL; or a negative errno.
 * Errors: -ENOTSUP if the filter cannot count keys: weir_can() lacks WEIR_CAN_COUNT.
 * Threads: any, with lookups and inserts.  Order, Progress, Cost: as weir_contains().
 */
WEIR_API int64_t weir_count(const struct weir_filter *f, const void *key, size_t len);
/** As weir_count(), for the eight bytes at &key. */
WEIR_API int64_t weir_count_u64(const struct weir_filter *f, uint64_t key);
/** As weir_count(), for a hash. Errors: also -EINVAL with cidr or suffixes (text.h). */
WEIR_API int64_t weir_count_hash(const struct weir_filter *f, uint64_t hash);
/**
 * As weir_count(), for a batch.
 * @counts: receives the answer of weir_count() for each key.
 * Return: how many counts are not 0, or a negative errno.
 * Errors: -ENOTSUP as weir_count(); -EINVAL as weir_remove_keys(). @counts is then untouched.
 */
WEIR_API int64_t weir_count_keys(const struct weir_filter *f, struct weir_keys keys,
                                 int64_t *counts);

/**
 * Add all keys of @src to @dst: afterwards @dst answers true wherever @src does. Kinds that count
 * add the counts. Both need the same layout and seed, which weir_params_of() copies.
 * Return: 0 or a negative errno. A failed call adds no key to @dst. With WEIR_ONCE it may add some.
 * Errors: -EINVAL if the two differ in kind, size, shape, hash function, seed, key, WEIR_ONCE or
 *   normalisation (<weir/text.h>; @dst may have more prefix lengths or numbers of labels):
 *   weir_error_detail() names the field and both values; -EROFS if @dst is mapped read-only;
 *   -ENOTSUP if the kind cannot merge; -EAGAIN if @src is the placeholder of a handle without a set
 *   (weir_handle_get()); growing: -ENOSPC if a merged layer would have more keys than it may hold,
 *   -ENOMEM; cuckoo: -ENOSPC if @dst cannot hold all keys, -EAGAIN if a fingerprint must move while
 *   @dst is being copied. After these two errors lookups may have found keys of @src for a moment.
 * Threads: any, with lookups and inserts on both (not in counting, see <weir/filter.h>). An
 *   insert into @src that is concurrent with the call may be missed.
 * Order: relaxed.  Progress: wait-free; cuckoo as its inserts.  Cost: reads both filters, writes
 *   the words that change; growing reads both twice.
 */
WEIR_API WEIR_MUST_CHECK int weir_merge(struct weir_filter *dst, const struct weir_filter *src);

/**
 * Make a private copy with the same shape, seed and bits.
 * @out: receives the copy; untouched on failure.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL if @out is NULL; -ENOMEM; -ENOTSUP if the kind cannot be copied, or for WEIR_ISA
 *   as weir_create(); -EAGAIN if @f is the placeholder of a handle without a set
 *   (weir_handle_get()).
 * Threads: any, with lookups and inserts (not in counting, see <weir/filter.h>). An insert
 *   concurrent with the call may be missed.
 * Order: relaxed.  Progress: blocking (memory).  Cost: memory bandwidth.
 */
WEIR_API WEIR_MUST_CHECK int weir_clone(struct weir_filter **out, const struct weir_filter *f);

/**
 * Make a smaller copy of a filter that was made too large. The copy answers true wherever @f does.
 * It has less capacity, and the rate of a filter with the same keys and 1 / @factor of the bytes.
 * @out: receives the copy; untouched on failure.
 * @factor: a power of two that divides the number of lines, as does each power of two up to the
 *   plan's number of shards. In counting and frequency it must divide the number of blocks, of
 *   counter_bits / 4 lines each.
 * Return: 0 or a negative errno.
 * Errors: as weir_clone(); -EINVAL for @factor; errors of the kind.
 * Threads, Order, Progress, Cost: as weir_clone().
 */
WEIR_API WEIR_MUST_CHECK int weir_fold(struct weir_filter **out, const struct weir_filter *f,
                                       uint32_t factor);

/**
 * Allocate the next layer of a growing filter now, so that inserts do not allocate and their time
 * is bounded. Call this when you have created the filter, and again whenever weir_measure() shows
 * more bytes. Without this call the insert that fills a layer to 7/8 allocates the next layer,
 * which is four times as large. The kernel zeroes its pages on first write, or with WEIR_PREFAULT
 * at once.
 * @f: a growing filter.
 * Return: 0 if the next layer is allocated, or max_capacity needs no more; or a negative errno.
 * Errors: -ENOMEM; -EROFS if the filter is mapped read-only; -ENOTSUP if the kind does not grow.
 * Threads: any, with lookups and inserts.  Order: none.  Progress: blocking (memory).
 * Cost: as weir_create() of the layer.
 */
WEIR_API WEIR_MUST_CHECK int weir_grow_ahead(struct weir_filter *f);

/** The figures of a filter. Start from WEIR_STATS_INIT. */
struct weir_stats {
	size_t struct_size;        /* sizeof(struct weir_stats) */
	struct weir_shape shape;   /* the kind, and the numbers of its shape */
	uint32_t shards;           /* number of contiguous runs of cache lines */
	uint64_t bytes;            /* size of the bit array; growing: of all layers so far */
	uint64_t capacity;         /* number of keys that the filter was made for */
	double fp_rate;            /* rate that the filter was made for, at capacity */
	double fill;               /* share of bits set, of counters above 0, or of slots in use
	                              (cuckoo), 0 to 1 */
	double fill_max;           /* fill of the fullest shard that was read */
	double keys_estimated;     /* number of distinct keys, from the fill; infinite if every bit
	                              is set. cuckoo: number of copies of all keys */
	double fp_rate_estimated;  /* rate for random absent keys now, estimated from the bits */
	double sampled;            /* share of the bits that was read, 0 to 1 */
	bool saturated;            /* more keys than capacity, beyond the estimate's error; growing
	                              and cuckoo refuse keys instead (-ENOSPC) */
	const char *isa;           /* instruction set in use: "scalar", "avx2", "avx512", "neon" */
	uint64_t seed_fingerprint; /* equal for equal seeds, and reveals nothing else about them;
	                              0 if the kind has no seed (split) */
	double keys_error;         /* bound on the sampling error of keys_estimated: three standard
	                              deviations, and more if the sample has only a few keys; 0 if
	                              every bit was read */
	uint64_t counters_stuck;   /* counting, frequency: counters at their largest value, which
	                              no longer change; extrapolated from the sample */
	uint64_t max_capacity;     /* growing: the limit of keys in all layers together, though up
	                              to 3 % more may fit; the field capacity is of the first
	                              layer alone. For other kinds equal to capacity */
	bool nearly_full;          /* the kind can refuse keys, and the filter has 90 % of the keys
	                              that fit at most: make a larger filter now */
	uint32_t steps;            /* enum weir_text_steps of the normalisation */
	uint32_t lookups;          /* number of keys that one lookup of a text probes at most now
	                              (weir_text_most()); fp_rate_estimated is for one probe */
	uint32_t marks;            /* enum weir_image_marks: WEIR_MARK_KEYED and WEIR_MARK_ONCE if
	                              they apply, and all marks of the image it was loaded from */
	uint32_t hashes_uneven;    /* enum weir_uneven: whether the hashes of the keys are uniform.
	                              If they are not, fp_rate_estimated is too low */
	const char *uneven_why;    /* a sentence about the defect and its remedy, or NULL */
};

/** Whether the bits look like those of a filter whose hashes are uniform. Your own hashes, given to
 * the _hash verbs, can be so poor that absent keys get true far more often than fp_rate. The sample
 * of a large filter may miss hashes that share most of their top bits, such as identifiers that
 * fill one line; WEIR_EXACT reads every line. If a filter has more than a million blocks,
 * weir_save() reads a quarter of them, and those at both ends of the array. The bits cannot show
 *   - hashes that take too few values (see weir_hash()). Split is an exception: from 30,000 keys on
 *     its bits show that the lower half takes 1000 values or fewer;
 *   - hashes in a classic filter that are successive states of a generator with the multiplier
 *     0xd1342543de82ef95. The bits of a classic key are such states too, so each key shares all
 *     bits but one with the key before it. The filter looks as if it had fewer keys: compare
 *     keys_estimated with your count. */
enum weir_uneven {
	WEIR_UNEVEN_UNKNOWN = 0, /* the filter has too few keys or is too full, or the kind cannot
	                            tell: fuse and layered */
	WEIR_UNEVEN_NO = 1,
	WEIR_UNEVEN_YES = 2,     /* at most one in a million filters of uniform hashes gets this */
};

#define WEIR_STATS_INIT WEIR__INIT(weir_stats)

/** How many bits weir_measure() reads. */
enum weir_effort {
	WEIR_SAMPLED = 0, /* at most 1 MiB of bits, which takes up to a millisecond */
	WEIR_EXACT = 1,   /* every bit, at memory bandwidth */
};

/**
 * Measure a filter from its bits. The call reads all bits if they take at most 1 MiB, or with
 * WEIR_EXACT. Otherwise it reads a sample of 1 MiB: a run of lines from each of up to 256 shards.
 * @effort: enum weir_effort.
 * @out: from WEIR_STATS_INIT.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL for @effort, or if struct_size is below sizeof(size_t) or above the size of this
 *   library's struct; -EAGAIN as weir_clone().
 * Threads: any.  Order: relaxed.  Progress: wait-free, writes nothing shared.  Cost: see @effort.
 */
WEIR_API WEIR_MUST_CHECK int weir_measure(const struct weir_filter *f, uint32_t effort,
                                          struct weir_stats *out);

/**
 * Get parameters for another filter of exactly the same kind, size, shards, shape and seed. An
 * empty filter made from them by weir_create() can be merged with @f. The parameters contain the
 * seed, so keep them from clients.
 * @out: from WEIR_PARAMS_INIT. memory becomes NULL. secret and router.names point to the filter's
 *   own copies, which live as long as the filter; secret is NULL if the filter is not keyed.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL if struct_size is wrong or too small for a number of the shape, for shards, or
 *   for the secret of a keyed filter; -EINVAL also if the filter is an image made by other software
 *   and weir_plan_make() refuses its capacity at its size; -EAGAIN as weir_clone().
 * Threads: any.  Progress: wait-free.  Cost: some microseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_params_of(const struct weir_filter *f, struct weir_params *out);

WEIR_END_DECLS

#endif
