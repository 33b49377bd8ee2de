/* SPDX-License-Identifier: MIT
 * A set that is replaced while it is in use. One pointer is published, readers are in RCU read-side
 * sections (liburcu), and no insert is lost.
 *
 *     struct weir_handle *set;              create once:  weir_handle_create(&set, filter, NULL)
 *     weir_handle_contains(set, key, len)   any worker, at any time, even while reload.h replaces
 *     weir_handle_insert(set, key, len)     the filter
 *
 * The promise. A key whose insert has returned is found by every later lookup through the handle,
 * across reloads, rollbacks and refreshes, if
 *   - the insert began after weir_reload_begin() had returned, or no reload ran; or
 *   - the insert began earlier, and the loader's source has the key or weir_reload_copy() carries
 *     it. So the application first writes the key to its own record and then inserts it, and the
 *     loader reads that record after weir_reload_begin().
 * The promise to a lookup counts from the moment it reads the published pointer. Each call of
 * weir_handle_contains() and weir_handle_get() reads it. A filter from weir_handle_get() is the set
 * as of that call, for as long as the caller's section lasts.
 *
 *                       | contains insert get | reload_insert | begin commit refresh ... | destroy
 *     contains, insert  |         yes         |      yes      |           yes            |  no (a)
 *     get ... use       |         yes         |      yes      |           yes (b)        |  no (a)
 *     begin commit ...  |         yes         |   yes (begin) |   -EBUSY for all but one |  -EBUSY
 *   A removal counts as an insert, a count as a lookup.
 *   (a) destroy waits for sections that began before it; no later one may use the handle.
 *   (b) begin, commit, refresh, rollback and destroy wait for all sections. Called inside one they
 *     return -EDEADLK.
 *
 * Several lookups. Each verb of a handle opens a section of its own, which takes 3 to 8 ns: often
 * as much as the lookup. For several keys open one section and get the filter once. Then the handle
 * costs two loads, and each lookup what it costs without one:
 *
 *     urcu_bp_read_lock();
 *     const struct weir_filter *now = weir_handle_get(set);
 *     for (size_t i = 0; i < n; i++)
 *             found += weir_contains(now, key[i], len[i]);
 *     urcu_bp_read_unlock();
 *
 * A verb of the handle in there would open a section within the section. With qsbr a thread is in a
 * section all the time. Inserts go through the handle in any case.
 *
 * Flavors. The default is urcu-bp: threads need no registration. Another flavor (memb, qsbr, mb) is
 * &rcu_flavor, as the urcu header that you include names it. Then every thread that calls the verbs
 * must be registered with it, with qsbr online and reporting quiescent states. A section of qsbr is
 * everything between two of those. So a thread that holds a filter from weir_handle_get() must not
 * call begin, commit, refresh, rollback or destroy there: weir cannot detect it for -EDEADLK.
 *
 * Full filters. Kinds that can refuse a key answer -ENOSPC when they are full. A key is inserted,
 * and promised, only if every filter in use took it. If one refuses it, those that had taken it
 * remove it again. A kind that cannot remove keeps it: a yes that nobody was promised.
 *   - The current filter is full: reload into a larger one, filled from the application's record,
 *     since a copy needs one of equal size. weir_handle_measure() says nearly_full from 90 % of the
 *     capacity on. A key that the current filter refuses meanwhile is refused, though the next one
 *     has room, since no lookup would find it before the commit: insert it again after that. Every
 *     key that was acknowledged meanwhile is in both.
 *   - The next filter is full: it is too small for its source. Inserts are refused, whatever room
 *     the current one has, until the reload is aborted.
 *   - The previous filter refuses: the key is inserted, and no rollback can return to that filter
 *     any more. weir_handle_measure() says previous_void, weir_handle_rollback() answers -ENOENT.
 * Batches are taken in the order of their keys up to the first that any filter refuses
 * (weir_error_taken()). A lookup beside a refused insert may find its key for a moment.
 *
 * Removal. A key is removed from the current filter. While a reload runs, or the previous filter is
 * kept, removals answer -EBUSY, since they could come to one of the filters before the key does.
 *   - The safe order: remove it from the filter first, delete the application's record after that.
 *     On -EBUSY keep the record (or a tombstone that the loader still reads) and repeat both after
 *     the commit or abort.
 *   - In the other order the loader may miss the key, and the repeated removal lowers counters of
 *     other keys, or takes another's fingerprint: false negatives. For the same reason never remove
 *     a key whose insert was refused.
 *   - A key may be once too often in the next filter, never too seldom: read by the loader and
 *     inserted live as well, inserted beside weir_reload_copy(), or removed just before begin with
 *     its record still there. Its removal leaves a false positive, in cuckoo the room of one key.
 *
 * Sharded sets. A set that is too large to hold twice is made with options.shards, and replaced one
 * shard at a time: its peak is the set and one shard. The verbs are those of any handle.
 *   - A key lives in one shard, so a lookup sees the old contents of that shard or the new ones.
 *     The set as a whole is a mixture meanwhile. The promise to inserts, and what is said of
 *     removals, hold for each shard, with the weir_reload_begin() of the key's shard.
 *   - Its size and its seed or secret never change, it keeps no previous filter and follows no
 *     file (-ENOTSUP). A shard that is full refuses its keys, whatever room the others have.
 *
 * fork(), cancelled threads and plugins: reload.h.
 */
#ifndef WEIR_HANDLE_H
#define WEIR_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/error.h>
#include <weir/export.h>
#include <weir/filter.h>
#include <weir/router.h>

WEIR_BEGIN_DECLS

struct iovec;
struct rcu_flavor_struct; /* liburcu's <urcu/flavor.h> */
struct weir_handle;

/** For weir_handle_options.flags. */
enum weir_handle_flags {
	/* The filters may hash their keys differently: another seed, secret or function in
	 * weir_reload_begin(), in each file of refresh.h and follow.h. A key is hashed once for
	 * each that is in use. A hash is good only for the filter whose weir_hash() made it, so
	 * the verbs that take hashes insert none (-EINVAL), and answer to lookups that each may be
	 * there. */
	WEIR_HANDLE_ANY_SEED = 1,
	/* With that: those verbs take hashes, since all are by one function of the caller's own,
	 * and not by weir_hash(), which changes. */
	WEIR_HANDLE_OWN_HASHES = 2,
	/* The normalisation (text.h) may differ from one filter to the next, as each file of
	 * refresh.h and follow.h has it: the program hands over keys as text, and no hashes.
	 * Without it a file is refused that has other steps than the current filter, or if there
	 * is none yet, any. */
	WEIR_HANDLE_ANY_STEPS = 4,
};

/** The answer to every lookup of a handle that has no filter yet. */
enum weir_absent {
	WEIR_ABSENT_REFUSED = 0, /* there is no such handle */
	WEIR_ABSENT_YES = 1,     /* every key may be there: ask the store */
	/* no key is there, not even one that was inserted meanwhile: the promise to an insert
	 * begins when the first filter is published */
	WEIR_ABSENT_NO = 2,
};

/** Start from WEIR_HANDLE_OPTIONS_INIT. */
struct weir_handle_options {
	size_t struct_size; /* sizeof(struct weir_handle_options) */
	const struct rcu_flavor_struct *flavor; /* of RCU, see the top; NULL: urcu-bp. It must
	                                           outlive the handle. */
	uint32_t flags;          /* enum weir_handle_flags */
	enum weir_absent absent; /* until the first filter; it takes WEIR_HANDLE_ANY_SEED */
	/* Memory, in bytes, for keys that are inserted until then. The first filter receives them
	 * in weir_reload_begin() or a refresh. 0: such an insert is refused. */
	uint64_t keep_inserts;
	/* Publish a first filter too that is full (cuckoo) before it has all of those keys: the
	 * others are not in it, and kept_dropped counts them. Else such a filter is refused. */
	bool drop_kept;
	/* 16 bytes, copied, as weir_params.secret: of the files that are to come. NULL: they are
	 * not keyed. An initial filter has its own. */
	const void *secret;
	/* They make an empty filter where none is given: as weir_create(), and of a kind that is
	 * built once one without keys. All that it points to is copied. */
	const struct weir_params *params;
	/* The shards of a set that params size as a whole: a power of two from 2 to 65536, each
	 * with its share of capacity and max_bytes, and room for random hashes. 0: one filter. */
	uint32_t shards;
	uint32_t can; /* enum weir_ability: what each filter must have, this one and all to come */
};
#define WEIR_HANDLE_OPTIONS_INIT WEIR__INIT(weir_handle_options)

/**
 * Publish a filter.
 * @out: receives the handle; untouched on failure.
 * @initial: the first filter; the handle owns it from now on. On failure the caller still owns it.
 *   NULL: it is made of options.params; or there is none yet, and lookups are answered as
 *   options.absent says, until a reload or a refresh publishes one.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL @out is NULL, or @initial without options.params and absent, or absent without
 *   WEIR_HANDLE_ANY_SEED, or params beside either, or an option is out of its range; -EBUSY a
 *   handle owns @initial already; -ENOTSUP it lacks one of options.can; -ENOMEM; with params as
 *   weir_create(). With shards -EINVAL params.memory, max_bytes below 64 a shard, or @initial,
 *   absent, keep_inserts, flags or secret.
 * Threads: any.  Order: publish the handle itself with release order (a thread's start does).
 * Progress: blocking (memory).  Cost: under a microsecond.
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_create(struct weir_handle **out,
                                                struct weir_filter *initial,
                                                const struct weir_handle_options *options);

/**
 * Wait for the sections that may still use the handle, then free it and every filter it holds. If
 * other threads may still find the handle, they must load its pointer inside a section, and the
 * caller must clear that pointer first. Readers that come later then find no handle, and the call
 * waits for those that found it.
 * @h: a handle, or NULL for nothing.
 * Return: 0 or a negative errno, and nothing has happened.
 * Errors: -EBUSY a reload, refresh, rollback or follower (follow.h) runs; -EDEADLK inside a
 *   read-side section, or in a callback of call_rcu: the call waits for callbacks, so it would
 *   hang. The latter is noticed with the flavors bp, memb, mb and qsbr.
 * Threads: the last user.  Progress: blocking (a grace period).
 */
WEIR_API int weir_handle_destroy(struct weir_handle *h);

/* What the inline verbs below read; frozen. */
struct weir_generation_head {
	struct weir_filter *current;
};
struct weir_handle_verbs {
	bool (*contains)(const struct weir_handle *h, const void *key, size_t len);
	bool (*contains_u64)(const struct weir_handle *h, uint64_t key);
	bool (*contains_hash)(const struct weir_handle *h, uint64_t hash);
	int (*insert)(struct weir_handle *h, const void *key, size_t len);
	int (*insert_u64)(struct weir_handle *h, uint64_t key);
	int (*insert_hash)(struct weir_handle *h, uint64_t hash);
};
struct weir_handle_head {
	struct weir_handle_verbs verbs;
	const struct weir_generation_head *generation;
};

/**
 * The current filter, for any number of lookups. Call it inside a read-side section of your own, of
 * the handle's flavor; the filter is valid until that section ends. Insert by weir_handle_insert():
 * an insert into this filter alone would be lost if a reload runs, so the filter is const.
 * Return: the filter, never NULL. Of a sharded set it is a view: it looks up, counts and measures
 *   in all shards; what else a filter can it answers with -ENOTSUP, so save such a set shard by
 *   shard (weir_handle_get_shard()). Before the first filter it is a placeholder that answers
 *   lookups as options.absent says, and fails with -EAGAIN what would read a whole set: measure,
 *   clone, fold, merge, save, params_of. With WEIR_HANDLE_ANY_SEED its weir_hash() is good for this
 *   filter, in this section, and for no other.
 * Errors: none.  Threads: any, registered with the flavor.  Order: acquire.  Progress: wait-free.
 * Cost: two loads of lines that only a writer of the handle changes.
 */
WEIR_API inline const struct weir_filter *weir_handle_get(const struct weir_handle *h)
{
	return __atomic_load_n(&((const struct weir_handle_head *)h)->generation, __ATOMIC_ACQUIRE)
	        ->current;
}

/**
 * As weir_contains() of the current filter, in a section of its own.
 * Return, Errors: as weir_contains().
 * Threads: any, registered with the flavor (urcu-bp: any).
 * Order: every insert through the handle that happens-before this call is seen.
 * Progress: wait-free; with urcu-bp a thread's first call registers it (a lock, an allocation).
 * Cost: a lookup, two loads and a section. With urcu-bp the section is inlined and takes about
 *   4 ns; another flavor takes two calls more. To look up several keys, hold one section of your
 *   own and call weir_handle_get(): then each lookup costs as much as that of a bare filter.
 */
WEIR_API inline bool weir_handle_contains(const struct weir_handle *h, const void *key, size_t len)
{
	return ((const struct weir_handle_verbs *)h)->contains(h, key, len);
}
/** As weir_handle_contains(), of the eight bytes at &key: see weir_contains_u64(). */
WEIR_API inline bool weir_handle_contains_u64(const struct weir_handle *h, uint64_t key)
{
	return ((const struct weir_handle_verbs *)h)->contains_u64(h, key);
}
/**
 * As weir_handle_contains(), of a hash: by weir_handle_hash() or the caller's own function.
 * Return: with WEIR_HANDLE_ANY_SEED and not WEIR_HANDLE_OWN_HASHES always true, since the hash may
 *   be of another filter: no key is wrongly answered to be absent.
 */
WEIR_API inline bool weir_handle_contains_hash(const struct weir_handle *h, uint64_t hash)
{
	return ((const struct weir_handle_verbs *)h)->contains_hash(h, hash);
}
/**
 * As weir_contains_keys(), of the current filter; with WEIR_HANDLE_ANY_SEED as
 * weir_handle_contains_hash(). Each 1 Mi (2^20) keys have a section of their own, so that a grace
 * period does not wait for the whole batch.
 * Threads, Order, Progress: as weir_handle_contains().  Cost: as weir_contains_keys().
 */
WEIR_API int64_t weir_handle_contains_keys(const struct weir_handle *h, struct weir_keys keys,
                                           uint64_t *bitmap);

/**
 * Insert a key into every filter in use: the current one, the next one while a reload runs, the
 * previous one while it is kept.
 * Return: as weir_insert() of the current filter, or a negative errno: then the key is taken back
 *   (Full filters in <weir/handle.h>) and nothing is promised. If several threads insert one new
 *   key at the same time, at least one is answered WEIR_NEW; with words_per_key = 1 exactly one is,
 *   but not across a swap, where some may ask the old filter and some the new one (two were for 1
 *   of 112,000 keys, each inserted by two threads beside 27,557 reloads by copy). A key of the
 *   loader's alone is new before the commit. Where one of the threads is refused, all others may be
 *   answered WEIR_SEEN. Before the first filter: WEIR_SEEN with WEIR_ABSENT_YES, WEIR_NEW with
 *   WEIR_ABSENT_NO.
 * Errors: as weir_insert(), of the current filter or the next one; of the previous one only while a
 *   rollback returns to it. Before the first filter: -EAGAIN options.keep_inserts is 0; -ENOBUFS it
 *   has no more room; -ENOMEM; and those of weir_insert() into the next filter, where the key stays
 *   kept for the one after it. Of a key that was kept more often than the first filter can hold
 *   copies of it (cuckoo: see filter.h), that filter holds so many: remove it no more often.
 * Threads, Order, Progress: as weir_handle_contains().
 * Cost: as weir_handle_contains(), and an insert into each filter: about two during a reload.
 *   Before the first filter an allocation, lock-free as far as malloc() is.
 */
WEIR_API inline int weir_handle_insert(struct weir_handle *h, const void *key, size_t len)
{
	return ((const struct weir_handle_verbs *)h)->insert(h, key, len);
}
/** As weir_handle_insert(), of the eight bytes at &key: see weir_contains_u64(). */
WEIR_API inline int weir_handle_insert_u64(struct weir_handle *h, uint64_t key)
{
	return ((const struct weir_handle_verbs *)h)->insert_u64(h, key);
}
/**
 * As weir_handle_insert(), of a hash: by weir_handle_hash() or the caller's own function.
 * Errors: as weir_handle_insert(); -EINVAL WEIR_HANDLE_ANY_SEED without WEIR_HANDLE_OWN_HASHES.
 */
WEIR_API inline int weir_handle_insert_hash(struct weir_handle *h, uint64_t hash)
{
	return ((const struct weir_handle_verbs *)h)->insert_hash(h, hash);
}
/**
 * As weir_handle_insert(), of a batch. Each 1 Mi (2^20) keys have a section of their own.
 * @bitmap: as for weir_insert_keys(), of the current filter.
 * Return: as weir_insert_keys(), of the current filter. After an error the first
 *   weir_error_taken() keys are inserted, and promised; the others are taken back, as one key of
 *   weir_handle_insert().
 * Errors: as weir_insert_keys() and weir_handle_insert_hash().
 * Threads, Order: as weir_handle_contains().
 * Progress, Cost: as weir_insert_keys(), into each filter.
 */
WEIR_API int64_t weir_handle_insert_keys(struct weir_handle *h, struct weir_keys keys,
                                         uint64_t *bitmap);

/**
 * As weir_hash(). All filters of a handle have one hash function and seed, or key:
 * weir_reload_begin() and weir_handle_refresh() refuse another. With WEIR_HANDLE_ANY_SEED they do
 * not: then it is the current filter's hash, good for nothing but the filter that weir_handle_get()
 * returns in the same section, and weir_hash() of that filter serves better.
 * Threads, Progress: as weir_handle_contains().
 */
WEIR_API uint64_t weir_handle_hash(const struct weir_handle *h, const void *key, size_t len);
/** As weir_handle_hash(), of the eight bytes at &key. */
WEIR_API uint64_t weir_handle_hash_u64(const struct weir_handle *h, uint64_t key);
/** As weir_handle_hash(), of each key of a batch, all by one filter, into @out. */
WEIR_API void weir_handle_hash_keys(const struct weir_handle *h, struct weir_keys keys,
                                    uint64_t *out);

/**
 * As weir_remove() of the current filter. <weir/handle.h> (Removal) has the order that is safe.
 * Return: 1: removed; 0: it is not there; or a negative errno.
 * Errors: as weir_remove(); -EAGAIN there is no filter yet; -EBUSY a reload runs (of the key's
 *   shard) or the previous filter is kept (not one that is void). A removal could reach one of the
 *   filters before the insert, which would make a false negative.
 * Threads: any, registered with the flavor, with all verbs of the handle.  Order: as weir_remove().
 * Progress: as weir_remove(); it waits for no writer.  Cost: as weir_remove(), and a section.
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_remove(struct weir_handle *h, const void *key, size_t len);
/** As weir_handle_remove(), of the eight bytes at &key: see weir_contains_u64(). */
WEIR_API WEIR_MUST_CHECK int weir_handle_remove_u64(struct weir_handle *h, uint64_t key);
/**
 * As weir_handle_remove(), of a hash: by weir_handle_hash() or the caller's own function.
 * Errors: as weir_handle_remove(); -EINVAL WEIR_HANDLE_ANY_SEED without WEIR_HANDLE_OWN_HASHES.
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_remove_hash(struct weir_handle *h, uint64_t hash);
/**
 * As weir_handle_remove(), of a batch. Each 1 Mi (2^20) keys have a section of their own. A key
 * that is not there is passed over.
 * @bitmap: as for weir_remove_keys(); NULL if only the count matters. After an error too it says
 *   which keys were removed: a reload may begin between two sections.
 * Return: how many were removed, or a negative errno.
 * Errors: -ENOTSUP, -EROFS as weir_remove_keys(); -EAGAIN, -EBUSY, -EINVAL as
 *   weir_handle_remove_hash(): repeat the keys that were not removed. Of a sharded set the keys
 *   before the first whose shard is being replaced are removed.
 * Threads, Order, Progress, Cost: as weir_remove_keys().
 */
WEIR_API int64_t weir_handle_remove_keys(struct weir_handle *h, struct weir_keys keys,
                                         uint64_t *bitmap);

/**
 * As weir_count() of the current filter, in a section of its own, while a reload runs too.
 * Return: as weir_count(): how often the key is there at most, or a negative errno. Keys that a
 *   reload has put there twice count twice (<weir/handle.h>, Removal).
 * Errors: as weir_count(); -EAGAIN there is no filter yet.
 * Threads: as weir_handle_contains().  Order, Progress: as weir_count().
 * Cost: as weir_count(), and a section.
 */
WEIR_API int64_t weir_handle_count(const struct weir_handle *h, const void *key, size_t len);
/** As weir_handle_count(), of the eight bytes at &key: see weir_contains_u64(). */
WEIR_API int64_t weir_handle_count_u64(const struct weir_handle *h, uint64_t key);
/**
 * As weir_handle_count(), of a hash: by weir_handle_hash() or the caller's own function.
 * Errors: as weir_handle_count(); -EINVAL WEIR_HANDLE_ANY_SEED without WEIR_HANDLE_OWN_HASHES: of
 *   a hash that is perhaps another filter's no count would be right.
 */
WEIR_API int64_t weir_handle_count_hash(const struct weir_handle *h, uint64_t hash);
/**
 * As weir_handle_count(), of a batch. Each 1 Mi (2^20) keys have a section of their own.
 * @counts: receives the answer of weir_count() for each key.
 * Return: how many of them are not 0, or a negative errno: then @counts has the answers of any of
 *   them.
 * Errors: -ENOTSUP as weir_count(); -EAGAIN, -EINVAL as weir_handle_count_hash().
 * Threads, Order, Progress, Cost: as weir_handle_count() of each key.
 */
WEIR_API int64_t weir_handle_count_keys(const struct weir_handle *h, struct weir_keys keys,
                                        int64_t *counts);

/* ---- sets of a router, <weir/router.h>: a filter of another kind has one set, 0 ---- */

/**
 * As weir_route(), of the current filter.
 * Return: before the first filter every set or none, as options.absent says.
 * Errors, Threads, Order, Progress, Cost: as weir_handle_contains().
 */
WEIR_API uint64_t weir_handle_route(const struct weir_handle *h, const void *key, size_t len);
/** As weir_handle_route(), of the eight bytes at &key. */
WEIR_API uint64_t weir_handle_route_u64(const struct weir_handle *h, uint64_t key);
/** As weir_handle_route(), of a hash; with WEIR_HANDLE_ANY_SEED every set, as for
 * weir_handle_contains_hash(). */
WEIR_API uint64_t weir_handle_route_hash(const struct weir_handle *h, uint64_t hash);
/** As weir_route_keys(), of the current filter. The call is one section, so keep it below some
 * million keys. */
WEIR_API int64_t weir_handle_route_keys(const struct weir_handle *h, struct weir_keys keys,
                                        uint64_t *masks);

/**
 * Through the handle insert a key into one set: of the current filter, of the next one during a
 * reload, and of the previous one while it is kept. All of them have the same sets.
 * Return: as weir_insert_into(), of the current filter.
 * Errors: those of weir_insert_into() and weir_handle_insert(); -EAGAIN before the first filter.
 * Threads, Order, Progress, Cost: as weir_handle_insert().
 */
WEIR_API int weir_handle_insert_into(struct weir_handle *h, uint32_t set, const void *key,
                                     size_t len);
/** As weir_handle_insert_into(), of the eight bytes at &key. */
WEIR_API int weir_handle_insert_into_u64(struct weir_handle *h, uint32_t set, uint64_t key);
/** As weir_handle_insert_into(), of a hash: by weir_handle_hash() or the caller's own function. */
WEIR_API int weir_handle_insert_into_hash(struct weir_handle *h, uint32_t set, uint64_t hash);
/** As weir_insert_into_keys(), through the handle. The call is one section. */
WEIR_API int64_t weir_handle_insert_into_keys(struct weir_handle *h, uint32_t set,
                                              struct weir_keys keys, uint64_t *bitmap);

/** The number of shards: 1 of a set that is not sharded.  Errors: none.  Threads: any. */
WEIR_API uint32_t weir_handle_shards(const struct weir_handle *h);
/** The shard of a hash: its top bits. A loader that sorts its source by shard first reads it once
 * instead of once for each shard.  Errors: none.  Threads: any. */
WEIR_API uint32_t weir_handle_shard(const struct weir_handle *h, uint64_t hash);
/**
 * As weir_handle_get(), of a shard: to save the set shard by shard. The shard's hashes are those of
 * the set, rotated left by log2(shards) bits.
 * @shard: 0 to weir_handle_shards() - 1; not checked.
 */
WEIR_API const struct weir_filter *weir_handle_get_shard(const struct weir_handle *h,
                                                         uint32_t shard);

/** A handle's figures. Start from WEIR_HANDLE_STATS_INIT. */
struct weir_handle_stats {
	size_t struct_size;       /* sizeof(struct weir_handle_stats) */
	uint64_t generation;      /* of the current filter, or of the newest shard: 1, then one more
	                             with each swap */
	double age;               /* seconds since that was published */
	bool reloading;           /* a reload is open */
	bool previous_kept;       /* weir_handle_rollback() has a filter to go back to; not one that
	                             has refused a key: previous_void */
	bool absent;              /* there is no set yet: figures of the filter are 0 */
	uint64_t bytes;           /* of bits: all filters, and those call_rcu has still to free */
	uint64_t swaps;           /* commits, refreshes and rollbacks so far */
	uint64_t refused;         /* commits and refreshes that the gate or a bad file stopped */
	double last_reload;       /* seconds that the last commit or refresh took until its filter
	                             was published: since weir_reload_begin() had returned, or
	                             since the refresh was called; 0: none yet */
	double refused_since;     /* seconds since commits and refreshes began to be refused or to
	                             fail, without one that succeeded; 0: not so now */
	char refused_sentence[WEIR_SENTENCE_BYTES]; /* of the last that was refused or failed, also
	                             when one has succeeded since; "": none yet */
	bool nearly_full;         /* the current filter can refuse a key, and holds 90 % of those
	                             that it was made for: begin a reload into a larger one now
	                             (see <weir/handle.h>: Full filters) */
	bool previous_void;       /* the previous filter refused a key that the current one took, so
	                             no rollback can return to it; the next reload or refresh
	                             frees it, or weir_handle_drop_previous() */
	uint64_t failed;          /* commits of kinds that are built once whose filter could not be
	                             built: no room within max_bytes, say, or no memory */
	uint64_t oldest;          /* generation of the oldest shard; without shards, generation */
	uint64_t kept_dropped;    /* keys kept for the first filter that it had no room for:
	                             options.drop_kept */
};
#define WEIR_HANDLE_STATS_INIT WEIR__INIT(weir_handle_stats)

/**
 * The handle's figures now. refused_since and refused_sentence are of commits that the gate refused
 * or that failed, and of refreshes, a follower's too, that did not swap: also of those that are
 * tried again (no such file, no memory), which refused does not count; not of those that found
 * another writer or that progress stopped. A refresh that finds the file as it was taken over ends
 * them as well.
 * @out: from WEIR_HANDLE_STATS_INIT.
 * @filter: from WEIR_STATS_INIT: receives the figures of the current filter, as weir_measure(); of
 *   a sharded set sums, and means where a share is meant. NULL: they are not wanted.
 * Return: 0 or a negative errno.  Errors: -EINVAL struct_size, of either.
 * Threads, Progress: as weir_handle_contains(). Cost: as weir_measure(), and of each shard at least
 *   as of a small filter.
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_measure(const struct weir_handle *h,
                                                 struct weir_handle_stats *out,
                                                 struct weir_stats *filter);

WEIR_END_DECLS

#endif
