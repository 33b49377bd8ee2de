/* SPDX-License-Identifier: MIT
 * A filter and the verbs on it.
 *
 * Who may call what with whom (X: at the same time on one filter, -: not):
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
 * Here a removal counts as an insert, a count as a lookup, and weir_fold() as weir_clone().
 *
 * Of the counting kind no insert and no removal may run while the filter is merged, cloned, folded
 * or saved: the copy could have a key by halves, and removing that key from the copy would take
 * another key's share. A build with -Dbuildtype=debug stops a program that does. A handle's reload
 * and refresh may carry keys over beside live inserts (reload.h): a key that comes meanwhile may
 * then be counted too high, never too low. Cuckoo removes keys too, and may be copied beside both.
 *
 * Keys that are numbers: the verbs named _u64 take a uint64_t by value and need no length. Its key
 * is the eight bytes that it has in this machine's memory, so weir_contains_u64(f, n) is
 * weir_contains(f, &n, 8), of every kind, keyed or not, and either verb finds what the other
 * inserted. Machines of both byte orders that share an image must agree on those bytes: give the
 * verbs htole64(n), say.
 *
 * Wait-free for the blocked and classic kinds: weir_hash(), all lookups, and all inserts, none of
 * which allocates memory. Only weir_fill_keys() ever does, and waits for another thread. Of
 * counting and frequency lookups and counts are wait-free, inserts and removals lock-free.
 *
 * Stack: a call that takes keys has at most 6 KiB of it, batches included. It is 7 KiB in batches
 * of the layered kind and where cuckoo moves keys, and 9 KiB where cuckoo does so during a reload,
 * and in batches of texts.
 *
 * Order: a lookup sees every insert that happens-before it. For the blocked and classic kinds the
 * coherence of each word is enough for that, since bits only go from 0 to 1 (invariant B1 in
 * word.h). So all accesses are relaxed, and weir orders nothing else for its caller.
 *
 * The cuckoo kind keeps a fingerprint for each insert, in one of two buckets of the key's own. Its
 * lookups are wait-free and write nothing; one whose key's fingerprint was moved or removed again
 * and again while it looked answers true. An insert into a free place is lock-free. Where both
 * buckets are full it moves others' fingerprints: then it waits for other moves and removals of the
 * same ones, as a removal does, and both wait while the filter is copied in memory, to be cloned,
 * saved or merged into another; a grace period then waits for a handle's insert, which is in a
 * section. Inserts may fail with -ENOSPC: no key was added, lost or doubled. While it has up to
 * capacity different keys, that happens once in a million filters; but of one key the two buckets
 * hold 8 copies (16-bit fingerprints) or 10 (12-bit) at most, at any load, and half of that where
 * both are the same bucket (1 of 200 keys at a capacity of 1000, fewer in larger ones). Filters
 * whose keys all come twice refuse the first at 94 % of capacity (12-bit; 91 % of 16-bit), three
 * times at 82 % (72 %), four times at 58 to 67 % (54 %); one key in a hundred that comes 6 times is
 * refused long before that. A refused insert has searched in vain: 35 us against 0.02 us into an
 * empty filter, so do not try again at each request. With WEIR_ONCE (params.h) a key has one copy,
 * but one for each thread that inserts it first at the same time, and cannot be removed.
 * A merge adds the copies of both; it fails with -EAGAIN if something must move in a destination
 * that is itself being copied. A key whose insert was concurrent with a clone, save or merge may
 * not be in the copy: do not remove it from there. It cannot be mapped WEIR_MAP_LIVE. A child of
 * fork() may use its copy; of what another thread was moving it may have the fingerprint twice.
 *
 * NULL, here and in the other headers: allowed where the description of an argument says so (the
 * object to destroy, a key of no bytes, a bitmap that is not wanted, options left at their
 * defaults) and for the keys, hashes or counts of a batch of none. Where a description promises
 * -EINVAL for it (most @out, @params and @path), it is refused. Any other NULL is the caller's
 * error, as in libc, and may crash: no verb spends an instruction on looking for one.
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

/** The head of every filter: the functions chosen for it at creation. Its layout is frozen, so that
 * programs can compile the verbs below into one indirect call. Call the verbs, not these. */
struct weir_verbs {
	bool (*contains)(const struct weir_filter *f, const void *key, size_t len);
	bool (*contains_hash)(const struct weir_filter *f, uint64_t hash);
	int (*insert)(struct weir_filter *f, const void *key, size_t len);
	int (*insert_hash)(struct weir_filter *f, uint64_t hash);
	bool (*contains_u64)(const struct weir_filter *f, uint64_t key);
	int (*insert_u64)(struct weir_filter *f, uint64_t key);
};

/** The answers of an insert. */
enum weir_inserted {
	WEIR_SEEN = 0, /* every bit was set: the key may have been there */
	WEIR_NEW = 1,  /* at least one bit was 0: the key was certainly not there; cuckoo: no equal
	                  fingerprint was in its two buckets */
};

/**
 * Create an empty filter. One of kind fuse or layered stays empty, since it takes no inserts
 * (-ENOTSUP): weir_build() and weir_builder_create() make such a filter from its keys (build.h).
 * @out: receives the filter; untouched on failure.
 * @params: from WEIR_PARAMS_INIT.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL, -EFBIG as weir_plan_make(); -EINVAL @out is NULL, memory is too small or
 *   misaligned, or seed is not secret's; -ENOMEM; -ENOTSUP an unknown kind, or the environment
 *   variable WEIR_ISA names an instruction set that this machine or kind lacks; the errno of
 *   getrandom().
 * Threads: any.  Progress: blocking (memory).
 * Cost: below 2 MiB, and in memory of the caller's, all bytes are zeroed. From 2 MiB on the kernel
 *   zeroes each page on first use.
 */
WEIR_API WEIR_MUST_CHECK int weir_create(struct weir_filter **out,
                                         const struct weir_params *params);

/**
 * Free a filter and the memory it owns. No other thread may use it any more.
 * @f: a filter, or NULL for nothing.
 * Return: 0 or a negative errno.
 * Errors: -EBUSY a handle owns the filter, and frees it itself (handle.h).
 * Threads: the last user.  Progress: blocking (memory).
 */
WEIR_API int weir_destroy(struct weir_filter *f);

/**
 * Test what a filter can do now.
 * @what: abilities to test, or'ed (enum weir_ability): WEIR_CAN_REMOVE, say, or WEIR_CAN_ALL.
 * Return: the abilities in @what that the filter has. One that is mapped read-only takes no inserts
 *   and no removals. WEIR_CAN_DECIDE needs words_per_key = 1.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API uint32_t weir_can(const struct weir_filter *f, uint32_t what);

/**
 * The 64-bit hash of a key, by the hash function of the filter's kind. Blocked and classic:
 * XXH3_64bits_withSeed(key, len, seed of @f). Of a keyed filter, whatever its kind: SipHash-2-4
 * with weir_params.secret.
 * The _hash verbs take this value, or a hash of your own that is uniform in all 64 bits, as XXH3,
 * SipHash and wyhash are. Give any other to the _u64 verbs, which mix and seed it, and look it up
 * by those too: a hash of 32 bits (FNV-1a 32, murmur3_32, CRC32), a counter, an address, a time.
 * In a _hash verb those make a filter say yes to every key, which weir_stats.hashes_uneven tells,
 * and a cuckoo filter refuse most of them (-ENOSPC). A hash of b well-mixed bits adds n / 2^b to
 * the rate of n keys, and no look at the filter shows that. Split takes the block from the upper
 * 32 bits and the bits in it from the lower 32 alone: lower halves of v values add n / (v *
 * blocks), of blocks of 32 bytes; at 1 % that is 25 / v.
 * To be protected against chosen keys, make the filter keyed. Give one filter the hashes of one
 * function only.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: the hash.
 * Errors: none.  Threads: any.  Progress: wait-free.
 * Cost: about 2 ns up to 16 bytes, 10 bytes a ns beyond 240; by SipHash about 20 ns up to 16 bytes,
 *   one byte a ns beyond.
 */
WEIR_API uint64_t weir_hash(const struct weir_filter *f, const void *key, size_t len);

/** As weir_hash(), of the eight bytes at &key. */
WEIR_API uint64_t weir_hash_u64(const struct weir_filter *f, uint64_t key);
/** As weir_hash(), of each key of a batch, into @out. By XXH3, a CPU with AVX-512 hashes eight
 * 8-byte keys at a time. */
WEIR_API void weir_hash_keys(const struct weir_filter *f, struct weir_keys keys, uint64_t *out);

/**
 * Insert a key.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: WEIR_NEW, WEIR_SEEN or a negative errno. If several threads insert one new key at the
 *   same time, at least one is answered WEIR_NEW. With words_per_key = 1 it is exactly one.
 * Errors: -EROFS the filter is mapped read-only; -ENOTSUP the kind takes no inserts; others are the
 *   kind's own (blocked and classic have none); -EINVAL a set with normalisation cannot read the
 *   text, or is closed and lacks its length (<weir/text.h>).
 * Threads: any, with lookups and inserts.  Order: relaxed, see <weir/filter.h>.
 * Progress: wait-free.
 * Cost: blocked one cache line, classic up to k. If every bit is set already, nothing is written;
 *   else blocked has words_per_key atomic or's, classic one for each bit that was 0.
 */
WEIR_API inline int weir_insert(struct weir_filter *f, const void *key, size_t len)
{
	return ((const struct weir_verbs *)f)->insert(f, key, len);
}
/** As weir_insert(), of a hash: by weir_hash(), or by a function of your own that is uniform in all
 * 64 bits. */
WEIR_API inline int weir_insert_hash(struct weir_filter *f, uint64_t hash)
{
	return ((const struct weir_verbs *)f)->insert_hash(f, hash);
}
/** As weir_insert(), of the eight bytes at &key: its hash is weir_hash(f, &key, 8). */
WEIR_API inline int weir_insert_u64(struct weir_filter *f, uint64_t key)
{
	return ((const struct weir_verbs *)f)->insert_u64(f, key);
}

/**
 * Might this key be in the set?
 * @key: @len bytes; may be NULL when len is 0.
 * Return: false: certainly not. true: it was inserted; of keys that were not, a full filter answers
 *   true for the share fp_rate.
 * Errors: none.  Threads: any.  Order: relaxed; every insert that happens-before this call is seen.
 * Progress: wait-free, writes nothing.  Cost: blocked one cache line, classic up to k.
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
/** As weir_contains(), of the eight bytes at &key: its hash is weir_hash(f, &key, 8). */
WEIR_API inline bool weir_contains_u64(const struct weir_filter *f, uint64_t key)
{
	return ((const struct weir_verbs *)f)->contains_u64(f, key);
}

/**
 * Look up a batch: hash, prefetch, then test, so that the cache misses of many keys overlap.
 * @keys: of any form (<weir/keys.h>). Fixed keys of 8 bytes are the fastest.
 * @bitmap: WEIR_BITMAP_WORDS(n) words that receive the answers, bits past n cleared; NULL if only
 *   the count matters.
 * Return: how many may be in the set.
 * Errors: none.  Threads, Order, Progress: as weir_contains() of each key, in no particular order.
 * Cost: in cache from about 2 ns a key; beyond, about one random cache line a key. Each call takes
 *   some 10 to 20 ns besides, and overlaps no misses with the next one's.
 */
WEIR_API int64_t weir_contains_keys(const struct weir_filter *f, struct weir_keys keys,
                                    uint64_t *bitmap);

/**
 * Insert a batch, in no particular order. Into a kind that can refuse a key they go in the order
 * given, up to the first that is refused.
 * @bitmap: as for weir_contains_keys(); a bit is set if its key was WEIR_NEW. May be NULL. After
 *   -ENOSPC it has the answers of the keys that were taken.
 * Return: how many were WEIR_NEW, or a negative errno. Of two equal new keys, in one batch or in
 *   those of several threads, at least one is answered WEIR_NEW. With words_per_key = 1 it is
 *   exactly one.
 * Errors: as weir_insert(). After -EROFS and -ENOTSUP no key was inserted; after an error of the
 *   kind's own, such as -ENOSPC, the keys before the refused one were: weir_error_taken() says how
 *   many.
 * Threads, Order: as weir_insert() of each key.
 * Progress: wait-free.  Cost: in cache from about 6 ns a key, most of it the atomic or's; beyond,
 *   about one random cache line a key.
 */
WEIR_API int64_t weir_insert_keys(struct weir_filter *f, struct weir_keys keys, uint64_t *bitmap);

/**
 * Fill a private filter, one that no other thread looks up or inserts into yet. The stores are
 * plain, so it is faster than inserts. Several threads may load one filter at the same time, each
 * with hashes of its own: a part of the filter has one owner at a time. A kind without plain stores
 * (classic) and a WEIR_MAP_LIVE image, which other processes may insert into, are loaded by
 * weir_insert_keys() instead.
 * @keys: of any form, in any order.
 * Return: 0 or a negative errno.
 * Errors: as weir_insert_keys(); -ENOMEM pthread_atfork() failed when the library was loaded.
 * Threads: other calls of weir_fill_keys() only. A child of fork() may load too, even if another
 *   thread was loading at that moment; of that thread's keys the child's copy has any part.
 * Order: none; publish the filter afterwards with release order (an unlock, a thread join, an
 *   rcu_assign_pointer).
 * Progress: blocking (another thread may own a part: the caller sleeps until it is done).
 * Cost: in the L2 2 to 3 ns a key, in the last-level cache about 4, without the hashing. A filter
 *   that outgrows the last-level cache is loaded part by part, and so is one that several threads
 *   load: that takes scratch memory, 8 bytes a key of the call, at most 137 MiB a thread, for as
 *   long as the call lasts. So for a filter beyond that cache hand over at least twice as many
 *   hashes a call as it has lines of 64 bytes, if there are so many. Without the memory the call
 *   is slower, and no error.
 */
WEIR_API WEIR_MUST_CHECK int weir_fill_keys(struct weir_filter *f, struct weir_keys keys);

/**
 * Remove a key that was inserted. Each removal needs an insert of its own that has returned, before
 * it, in the order of the program or by whatever orders the threads. To remove a key that was never
 * inserted, or more often than it was, makes false negatives of other keys: not always is it
 * answered 0.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: 1 it was removed, or all its counters are full: such a key stays; 0 it is not there, and
 *   nothing has changed; but where two threads remove a key that was inserted once, lookups of
 *   other keys may have missed them meanwhile; or a negative errno.
 * Errors: -ENOTSUP the kind cannot (any but counting and cuckoo), or the filter has WEIR_ONCE;
 *   -EROFS the filter is mapped read-only.
 * Threads: any, with lookups and inserts.  Order: relaxed, as inserts.
 * Progress: counting lock-free: a thread tries a word again only when another has changed it.
 *   Cuckoo waits for moves of the same fingerprint, see <weir/filter.h>.
 * Cost: counting as an insert: words_per_key compare-and-swaps. A counter at its largest value
 *   (weir_stats.counters_stuck) is never lowered again.
 */
WEIR_API WEIR_MUST_CHECK int weir_remove(struct weir_filter *f, const void *key, size_t len);
/** As weir_remove(), of the eight bytes at &key. */
WEIR_API WEIR_MUST_CHECK int weir_remove_u64(struct weir_filter *f, uint64_t key);
/** As weir_remove(), of a hash. */
WEIR_API WEIR_MUST_CHECK int weir_remove_hash(struct weir_filter *f, uint64_t hash);
/**
 * As weir_remove(), of a batch. A key that cannot be removed is passed over.
 * @bitmap: as for weir_contains_keys(); a bit is set if its key was removed. May be NULL.
 * Return: how many were removed, or a negative errno.
 * Errors: -ENOTSUP, -EROFS as weir_remove(); no key was removed.
 */
WEIR_API int64_t weir_remove_keys(struct weir_filter *f, struct weir_keys keys, uint64_t *bitmap);

/** The count of a key whose counters are full: it is 2^counter_bits - 1 or more. */
#define WEIR_COUNT_FULL INT64_MAX

/**
 * How often a key is in the set, at most: its inserts less its removals, or more by chance. Never
 * less: inserts that happen-before the call are counted.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: the count, WEIR_COUNT_FULL, or a negative errno.
 * Errors: -ENOTSUP the kind cannot (weir_can() tells).
 * Threads: any, with lookups and inserts.  Order, Progress, Cost: as weir_contains().
 */
WEIR_API int64_t weir_count(const struct weir_filter *f, const void *key, size_t len);
/** As weir_count(), of the eight bytes at &key. */
WEIR_API int64_t weir_count_u64(const struct weir_filter *f, uint64_t key);
/** As weir_count(), of a hash. */
WEIR_API int64_t weir_count_hash(const struct weir_filter *f, uint64_t hash);
/**
 * As weir_count(), of a batch.
 * @counts: receives the answer of weir_count() for each key.
 * Return: how many of them are not 0, or a negative errno.
 * Errors: -ENOTSUP as weir_count(); @counts is untouched.
 */
WEIR_API int64_t weir_count_keys(const struct weir_filter *f, struct weir_keys keys,
                                 int64_t *counts);

/**
 * Union: afterwards @dst answers true wherever @src does. Of kinds that count, counts are added.
 * Return: 0 or a negative errno: then @dst has nothing of @src; with WEIR_ONCE it may have a part.
 * Errors: -EINVAL the two differ in kind, size, shape, hash function, seed or key, in WEIR_ONCE, or
 *   in what is done to keys (<weir/text.h>; @dst may have more prefix lengths or numbers of
 *   labels): weir_error_detail() names the field and both values; -EROFS @dst is mapped read-only;
 *   -ENOTSUP the kind cannot; -EAGAIN @src is the placeholder of a handle without a set
 *   (weir_handle_get()); growing: -ENOSPC a layer of both together has more keys than it may
 *   hold, -ENOMEM; cuckoo: -ENOSPC there is no room for all, -EAGAIN something must move in @dst,
 *   which is being copied: lookups may have answered true meanwhile for keys of @src.
 * Threads: any, with lookups and inserts on both (not of counting, see <weir/filter.h>). An
 *   insert into @src that is concurrent with the call may be missed.
 * Order: relaxed.  Progress: wait-free; cuckoo as its inserts.  Cost: reads both, writes the words
 *   that change; growing reads both twice.
 */
WEIR_API WEIR_MUST_CHECK int weir_merge(struct weir_filter *dst, const struct weir_filter *src);

/**
 * A private copy with the same shape, seed and bits.
 * @out: receives the copy; untouched on failure.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL @out is NULL; -ENOMEM; -ENOTSUP the kind cannot, or WEIR_ISA as weir_create();
 *   -EAGAIN @f is the placeholder of a handle without a set (weir_handle_get()).
 * Threads: any, with lookups and inserts (not of counting, see <weir/filter.h>). An insert
 *   concurrent with the call may be missed.
 * Order: relaxed.  Progress: blocking (memory).  Cost: memory bandwidth.
 */
WEIR_API WEIR_MUST_CHECK int weir_clone(struct weir_filter **out, const struct weir_filter *f);

/**
 * A smaller copy, of a filter that was made too large. It answers true wherever @f does. Its rate
 * is that of a filter of 1 / @factor of the bytes with the same keys. Its capacity shrinks as well.
 * @out: receives the copy; untouched on failure.
 * @factor: a power of two that divides the number of lines (counting, frequency: of blocks, each of
 *   counter_bits / 4 lines), such as any up to the plan's shards.
 * Return: 0 or a negative errno.
 * Errors: as weir_clone(); -EINVAL @factor; others are the kind's own.
 * Threads, Order, Progress, Cost: as weir_clone().
 */
WEIR_API WEIR_MUST_CHECK int weir_fold(struct weir_filter **out, const struct weir_filter *f,
                                       uint32_t factor);

/**
 * Have a growing filter's next layer now, so that no insert allocates it: for who wants inserts
 * whose time is bounded. Call it when the filter has been made, and again when weir_measure() shows
 * that its bytes have grown. Else the insert that fills a layer to 7/8 allocates the next one,
 * which is four times as large, and the kernel zeroes its pages when they are first written to
 * (with WEIR_PREFAULT at once).
 * @f: growing.
 * Return: 0 the next layer is there, or max_capacity needs no other; or a negative errno.
 * Errors: -ENOMEM; -EROFS the filter is mapped read-only; -ENOTSUP the kind does not grow.
 * Threads: any, with lookups and inserts.  Order: none.  Progress: blocking (memory).
 * Cost: as weir_create() of the layer.
 */
WEIR_API WEIR_MUST_CHECK int weir_grow_ahead(struct weir_filter *f);

/** A filter's figures. Start from WEIR_STATS_INIT. */
struct weir_stats {
	size_t struct_size;        /* sizeof(struct weir_stats) */
	struct weir_shape shape;   /* its kind and the kind's own numbers */
	uint32_t shards;           /* contiguous runs of lines */
	uint64_t bytes;            /* of bits; growing: of all layers so far */
	uint64_t capacity;         /* keys, as asked */
	double fp_rate;            /* as asked */
	double fill;               /* share of bits set, of counters that are not 0, or of places
	                              taken (cuckoo), 0 to 1 */
	double fill_max;           /* of the fullest shard looked at */
	double keys_estimated;     /* distinct keys, from the fill; infinite if every bit is set;
	                              cuckoo: copies, a key as often as it is there */
	double fp_rate_estimated;  /* of random absent keys now, from the bits themselves */
	double sampled;            /* share of the bits that was read, 0 to 1 */
	bool saturated;            /* more keys than capacity, beyond the estimate's error; growing
	                              and cuckoo refuse keys instead (-ENOSPC) */
	const char *isa;           /* the kernel in use: "scalar", "avx2", "avx512" or "neon" */
	uint64_t seed_fingerprint; /* equal for equal seeds, and shows nothing else of them;
	                              0: the kind has none (split) */
	double keys_error;         /* how far keys_estimated of a sample may be off that of all
	                              bits: three standard deviations, and more where the sample
	                              has but a few keys; 0 when every bit was read */
	uint64_t counters_stuck;   /* counting, frequency: counters at their largest value, which
	                              change no more; from the sample, as if all were like it */
	uint64_t max_capacity;     /* growing: keys that it may come to, and up to 3 % more, where
	                              capacity is the first layer's; else capacity */
	bool nearly_full;          /* it can refuse a key, and holds 90 % of those that it was made
	                              for: make a larger one now */
	uint32_t steps;            /* of normalisation: enum weir_text_steps */
	uint32_t lookups;          /* most keys that the lookup of one text probes now
	                              (weir_text_most()): fp_rate_estimated is the rate of each */
	uint32_t marks;            /* enum weir_image_marks: whether it is keyed, or'ed with the
	                              others of the image that it was loaded from */
	uint32_t hashes_uneven;    /* enum weir_uneven: are the hashes of its keys uniform? If not,
	                              fp_rate_estimated is too low */
	const char *uneven_why;    /* what is uneven, and what helps: a sentence; else NULL */
};

/** Do the bits look as uniform hashes leave them? Hashes of the caller's own, given to the _hash
 * verbs, can be so poor that absent keys are answered true far more often than was asked. A sample
 * of a large filter may miss hashes that are alike in most of their top bits, such as identifiers
 * that fill one line; WEIR_EXACT looks at every line. weir_save() looks at a quarter of the blocks
 * of a filter that has more than a million, and at both ends. No look at bits shows
 *   - hashes that take too few values, as weir_hash() says. Of split it shows up to 1000 values
 *     of the lower half, from 30,000 keys on;
 *   - in a classic filter, hashes that are the states of a generator by the multiplier
 *     0xd1342543de82ef95. A classic key's bits are such a walk, so a key shares all but one with
 *     the key before it, and the bits look like those of fewer keys: compare keys_estimated. */
enum weir_uneven {
	WEIR_UNEVEN_UNKNOWN = 0, /* too few keys, or too full, or a kind that cannot tell: fuse and
	                            layered */
	WEIR_UNEVEN_NO = 1,
	WEIR_UNEVEN_YES = 2,     /* uniform hashes look so once in a million filters at most */
};

#define WEIR_STATS_INIT WEIR__INIT(weir_stats)

/** How much of the bits weir_measure() reads. */
enum weir_effort {
	WEIR_SAMPLED = 0, /* up to 1 MiB: up to a millisecond */
	WEIR_EXACT = 1,   /* every bit: memory bandwidth */
};

/**
 * Figures from the bits themselves. Up to 1 MiB all bits are read; beyond, a sample of 1 MiB, which
 * is a run of lines from each of up to 256 shards, or with WEIR_EXACT all.
 * @effort: enum weir_effort.
 * @out: from WEIR_STATS_INIT.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL @effort; struct_size is less than that of a size_t or more than this library's;
 *   -EAGAIN as weir_clone().
 * Threads: any.  Order: relaxed.  Progress: wait-free, writes nothing shared.  Cost: see @effort.
 */
WEIR_API WEIR_MUST_CHECK int weir_measure(const struct weir_filter *f, uint32_t effort,
                                          struct weir_stats *out);

/**
 * Parameters for another filter of exactly the same kind, size, shards, shape and seed:
 * weir_create() makes an empty one that weir_merge() accepts. They hold the seed: keep them from
 * clients. memory is NULL. secret and router.names point to the filter's copies, which go with the
 * filter; secret NULL: it is not keyed.
 * @out: from WEIR_PARAMS_INIT.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL struct_size, or it has no room for a number of the shape, for shards, or for the
 *   secret of a keyed filter; or the filter is an image of others whose capacity at its size
 *   weir_plan_make() refuses; -EAGAIN as weir_clone().
 * Threads: any.  Progress: wait-free.  Cost: some microseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_params_of(const struct weir_filter *f, struct weir_params *out);

WEIR_END_DECLS

#endif
