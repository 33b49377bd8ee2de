/* SPDX-License-Identifier: MIT
 * A handle is a set whose filter can be replaced while threads use it: no lookup waits, and no
 * insert is lost. Create it once. Any thread may then look up and insert through it at any time.
 * Replace its filter by reload.h, or let it follow an image file (follow.h).
 *
 *     struct weir_params params = WEIR_PARAMS_INIT;
 *     params.capacity = 1000000, params.fp_rate = 0.01;
 *     err = weir_create(&filter, &params);
 *     err = weir_handle_create(&set, filter, NULL);     from now on the handle owns the filter
 *     err = weir_handle_insert(set, key, len);          any thread, also during a reload
 *     found = weir_handle_contains(set, key, len);
 *     weir_handle_destroy(set);                         when no thread uses it any more
 *
 * The promise. Once an insert through the handle has returned, every later lookup through the
 * handle finds its key, across reloads, rollbacks and refreshes, if
 *   - the insert began after weir_reload_begin() had returned, or no reload ran; or
 *   - the insert began earlier, and the loader's source has the key or weir_reload_copy() carries
 *     it. So the application first writes the key to its own record and then inserts it, and the
 *     loader reads that record after weir_reload_begin().
 * A lookup is later if it reads the published pointer after that: each weir_handle_contains() and
 * weir_handle_get() reads it. A filter from weir_handle_get() is the set as of that call, for as
 * long as the caller's section lasts.
 *
 *     at the same time  | contains insert get | reload_insert | begin commit refresh ... | destroy
 *     contains, insert  |         yes         |      yes      |           yes            |  no (a)
 *     get ... use       |         yes         |      yes      |           yes (b)        |  no (a)
 *     begin commit ...  |         yes         |   yes (begin) |   -EBUSY for all but one |  -EBUSY
 *   A removal counts as an insert, a count as a lookup.
 *   (a) destroy waits for sections that began before it; no later one may use the handle.
 *   (b) begin, commit, refresh, rollback and destroy wait for all sections. Called inside one they
 *     return -EDEADLK.
 *
 * Several lookups. Each verb of a handle opens an RCU read-side section (liburcu) of its own, which
 * takes 3 to 8 ns: often as much as the lookup. For several keys open one section (urcu/urcu-bp.h)
 * and get the filter once. Then the handle costs two loads, and a lookup as much as without it:
 *
 *     urcu_bp_read_lock();
 *     const struct weir_filter *now = weir_handle_get(set);
 *     for (size_t i = 0; i < n; i++)
 *             found += weir_contains(now, key[i], len[i]);
 *     urcu_bp_read_unlock();
 *
 * In there a verb of the handle would open a section within the section. Insert through the handle
 * all the same.
 *
 * Flavors. The default is urcu-bp: threads need no registration. For another flavor (memb, qsbr,
 * mb) include its urcu header and set options.flavor to &rcu_flavor. Then register every thread
 * that calls the verbs with it. With qsbr a thread must also be online and report quiescent states;
 * everything between two of those is one section. So a thread that holds a filter from
 * weir_handle_get() must not call begin, commit, refresh, rollback or destroy there: weir cannot
 * detect that and return -EDEADLK. For fork(), cancelled threads and plugins see reload.h.
 *
 * Full filters. Kinds that can refuse a key return -ENOSPC when they are full. The handle accepts a
 * key, and promises it, only if every filter in use takes it. If one filter refuses the key, those
 * that had taken it remove it again. A kind without removal keeps it: a false positive.
 *   - The current filter is full: reload into a larger one, filled from the application's record,
 *     since a copy needs one of equal size. weir_handle_measure() reports nearly_full once it has
 *     90 % of the most keys that fit. Until the commit the handle refuses keys that the current
 *     filter refuses, even if the next one has room: no lookup would find them. Insert them again
 *     after it. Every key that the handle does accept is in both.
 *   - The next filter is full: it is too small for its source. The handle refuses inserts, even if
 *     the current filter has room, until the reload is aborted.
 *   - The previous filter refuses: the key is inserted, but no rollback can return to that filter.
 *     weir_handle_measure() reports previous_void, and weir_handle_rollback() returns -ENOENT.
 * The handle takes a batch in the order of its keys, up to the first key that any filter refuses
 * (weir_error_taken()). A lookup during a refused insert may find its key for a moment.
 *
 * Removal. A key is removed from the current filter. While a reload runs, or the previous filter is
 * kept, removals return -EBUSY, since they could reach one of the filters before the key does.
 *   - The safe order: remove the key from the filter, then delete the application's record of it.
 *     On -EBUSY keep the record (or a tombstone that the loader still reads) and repeat both after
 *     the commit or abort.
 *   - In the other order the loader may miss the key, and the repeated removal lowers counters of
 *     other keys, or takes another key's fingerprint: false negatives. For the same reason never
 *     remove a key whose insert was refused.
 *   - The next filter may have a key once too often, never too seldom: if the loader reads it and a
 *     live insert adds it too, if it is inserted during weir_reload_copy(), or if it was removed
 *     just before begin while its record was still there. Removing such a key leaves a false
 *     positive, and in cuckoo one key's room stays taken.
 *
 * Sharded sets. A set that is too large to hold twice is made with options.shards, and replaced one
 * shard at a time: its peak is the set and one shard. The verbs are those of any handle.
 *   - A key lives in one shard, so a lookup sees the old contents of that shard or the new ones.
 *     During the replacement the set as a whole mixes both. The promise and the rules of removal
 *     hold for each shard, with the weir_reload_begin() of the key's shard.
 *   - Its size and its seed or secret never change. It keeps no previous filter and follows no
 *     file (-ENOTSUP). A full shard refuses its keys, even if the others have room.
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

/** How the next filter may differ from the current one: for weir_handle_options.flags. */
enum weir_handle_flags {
	/* Filters may hash their keys differently: weir_reload_begin() and each file of refresh.h
	 * and follow.h may have another seed, secret or function. An insert hashes its key once
	 * for each filter in use. A hash is valid only for the filter whose weir_hash() made it,
	 * so the verbs refuse to insert hashes (-EINVAL), and lookups of hashes return true. */
	WEIR_HANDLE_ANY_SEED = 1,
	/* With WEIR_HANDLE_ANY_SEED: the verbs do take hashes. The caller makes all of them by one
	 * function of its own, not by weir_hash(), which changes. */
	WEIR_HANDLE_OWN_HASHES = 2,
	/* The normalisation (text.h) may differ from one filter to the next, with each file of
	 * refresh.h and follow.h: the program passes keys as text, never hashes. Without this flag
	 * the handle refuses a file whose steps differ from the current filter's, or, before the
	 * first filter, a file with any steps. */
	WEIR_HANDLE_ANY_STEPS = 4,
};

/** The answer to every lookup of a handle that has no filter yet. */
enum weir_absent {
	WEIR_ABSENT_REFUSED = 0, /* weir_handle_create() needs a filter or params */
	WEIR_ABSENT_YES = 1,     /* every key may be there: ask the store */
	/* every key is absent, even one that was inserted already: lookups find that key only
	 * once the first filter is published */
	WEIR_ABSENT_NO = 2,
};

/** How to create a handle. Start from WEIR_HANDLE_OPTIONS_INIT. */
struct weir_handle_options {
	size_t struct_size; /* sizeof(struct weir_handle_options) */
	const struct rcu_flavor_struct *flavor; /* of RCU, see the top; NULL: urcu-bp. It must
	                                           outlive the handle. */
	uint32_t flags;          /* enum weir_handle_flags */
	enum weir_absent absent; /* until the first filter; needs WEIR_HANDLE_ANY_SEED */
	/* Memory, in bytes, to keep keys that are inserted before the first filter.
	 * weir_reload_begin() or a refresh inserts them into it. 0: refuse such inserts. */
	uint64_t keep_inserts;
	/* Publish a first filter that is full (cuckoo) before it has all of those keys:
	 * kept_dropped counts the keys it lacks. false: refuse such a filter. */
	bool drop_kept;
	/* 16 bytes, copied: weir_params.secret of the files that are to come. NULL: they are not
	 * keyed. An initial filter has its own. */
	const void *secret;
	/* Make an empty first filter if @initial is NULL, as weir_create() does; for a kind that is
	 * built once, a filter without keys. All that they point to is copied, but memory is used
	 * in place. */
	const struct weir_params *params;
	/* The shards of a set that params size as a whole: a power of two from 2 to 65536, each
	 * with its share of capacity and max_bytes, and room for uneven shares. 0: one filter. */
	uint32_t shards;
	uint32_t can; /* enum weir_ability: what each filter must have, now and later */
};
#define WEIR_HANDLE_OPTIONS_INIT WEIR__INIT(weir_handle_options)

/**
 * Create a handle that publishes a filter.
 * @out: receives the handle; untouched on failure.
 * @initial: the first filter; the handle owns it from now on. On failure the caller still owns it.
 *   NULL: make it from options.params. Or start without a filter: lookups return what
 *   options.absent says until a reload or a refresh publishes one.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL @out is NULL, @initial is NULL without options.params and options.absent, absent
 *   is given without WEIR_HANDLE_ANY_SEED, params are given with either of the others, or an option
 *   is out of its range; -EBUSY a handle owns @initial already; -ENOTSUP it lacks one of
 *   options.can; -ENOMEM; with params as weir_create(). With shards -EINVAL params.memory,
 *   max_bytes below 64 a shard, no params, or @initial, absent, keep_inserts, flags or secret;
 *   -ENOTSUP a router, or params with normalisation.
 * Threads: any.  Order: publish the handle itself with release order (a thread's start does).
 * Progress: blocking (memory).  Cost: under a microsecond.
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_create(struct weir_handle **out,
                                                struct weir_filter *initial,
                                                const struct weir_handle_options *options);

/**
 * Wait for the sections that may still use the handle, then free it and every filter it holds. If
 * other threads may still find the handle, they must load its pointer inside a section, and the
 * caller must first clear that pointer. Later readers then find no handle, and the call waits for
 * the earlier ones.
 * @h: a handle, or NULL for nothing.
 * Return: 0 or a negative errno, and nothing has happened.
 * Errors: -EBUSY a reload, refresh, rollback or follower (follow.h) runs; -EDEADLK inside a
 *   read-side section, or in a callback of call_rcu: the call waits for callbacks, so it would
 *   hang. weir detects such a callback with the flavors bp, memb, mb and qsbr.
 * Threads: the last user.  Progress: blocking (a grace period).
 */
WEIR_API int weir_handle_destroy(struct weir_handle *h);

/* The heads that the inline verbs below read; frozen. */
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
 * Get the current filter, for any number of lookups. Call it inside a read-side section of your
 * own, of the handle's flavor; the filter is valid until that section ends. It is const, since a
 * running reload would lose an insert into this filter alone: insert by weir_handle_insert().
 * Return: the filter, never NULL. For a sharded set it is a view that looks up, counts and measures
 *   in all shards. Its other verbs return -ENOTSUP, so save such a set shard by shard
 *   (weir_handle_get_shard()). Before the first filter it is a placeholder: it answers lookups as
 *   options.absent says, and fails with -EAGAIN what would read a whole set: measure, clone, fold,
 *   merge, save, params_of. With WEIR_HANDLE_ANY_SEED its weir_hash() is valid for this filter, in
 *   this section, and for no other.
 * Errors: none.  Threads: any, registered with the flavor.  Order: acquire.  Progress: wait-free.
 * Cost: two loads of lines that only a writer of the handle changes.
 */
WEIR_API inline const struct weir_filter *weir_handle_get(const struct weir_handle *h)
{
	return __atomic_load_n(&((const struct weir_handle_head *)h)->generation, __ATOMIC_ACQUIRE)
	        ->current;
}

/**
 * Test whether a key may be in a handle: in its current filter, in a section of its own.
 * Return, Errors: as weir_contains().
 * Threads: any, registered with the flavor (urcu-bp: any).
 * Order: every insert through the handle that happens-before this call is seen.
 * Progress: wait-free; with urcu-bp a thread's first call registers it (a lock, an allocation).
 * Cost: a lookup, two loads and a section. With urcu-bp the section is inlined and takes about
 *   4 ns; another flavor takes two calls more. <weir/handle.h> (Several lookups) shows how to hold
 *   one section for several keys.
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
 * Return: with WEIR_HANDLE_ANY_SEED and without WEIR_HANDLE_OWN_HASHES always true: the hash may be
 *   another filter's, and a key that is there must never be answered false.
 */
WEIR_API inline bool weir_handle_contains_hash(const struct weir_handle *h, uint64_t hash)
{
	return ((const struct weir_handle_verbs *)h)->contains_hash(h, hash);
}
/**
 * Look up a batch through a handle: weir_contains_keys() of the current filter. With
 * WEIR_HANDLE_ANY_SEED hashes are answered as by weir_handle_contains_hash(). Each 1 Mi (2^20) keys
 * have a section of their own, so that a grace period does not wait for the whole batch.
 * Threads, Order, Progress: as weir_handle_contains().  Cost: as weir_contains_keys().
 */
WEIR_API int64_t weir_handle_contains_keys(const struct weir_handle *h, struct weir_keys keys,
                                           uint64_t *bitmap);

/**
 * Insert a key into every filter in use: the current one, the next one while a reload runs, the
 * previous one while it is kept.
 * Return: as weir_insert() of the current filter, or a negative errno: then the key is taken back
 *   (Full filters in <weir/handle.h>) and nothing is promised. If several threads insert one new
 *   key at the same time, at least one gets WEIR_NEW; with words_per_key = 1 exactly one does, but
 *   across a swap some threads may ask the old filter and some the new one (two got WEIR_NEW for 1
 *   of 112,000 keys, each inserted by two threads beside 27,557 reloads by copy). Before the commit
 *   a key of the loader's alone is new. If one of the threads is refused, all others may get
 *   WEIR_SEEN. Before the first filter: WEIR_SEEN with WEIR_ABSENT_YES, WEIR_NEW with
 *   WEIR_ABSENT_NO.
 * Errors: as weir_insert(), of the current filter or the next one; of the previous one only while a
 *   rollback returns to it. Before the first filter: -EAGAIN options.keep_inserts is 0; -ENOBUFS it
 *   is used up; -ENOMEM; and those of weir_insert() into the next filter: the key then stays kept
 *   for a later one. The first filter may hold fewer copies of one key than were kept (cuckoo: see
 *   filter.h): then it has as many as it can hold, so remove the key no more often.
 * Threads, Order, Progress: as weir_handle_contains().
 * Cost: as weir_handle_contains(), and an insert into each filter: about two during a reload.
 *   Before the first filter an allocation, lock-free if malloc() is.
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
 * Hash a key as all filters of the handle do, by weir_hash(). They have one hash function and seed,
 * or key: weir_reload_begin() and weir_handle_refresh() refuse another. With WEIR_HANDLE_ANY_SEED
 * they do not. Then this is the current filter's hash, valid only for the filter that
 * weir_handle_get() returns in the same section; weir_hash() of that filter serves better.
 * Threads, Progress: as weir_handle_contains().
 */
WEIR_API uint64_t weir_handle_hash(const struct weir_handle *h, const void *key, size_t len);
/** As weir_handle_hash(), of the eight bytes at &key. */
WEIR_API uint64_t weir_handle_hash_u64(const struct weir_handle *h, uint64_t key);
/** As weir_handle_hash(), of each key of a batch, all by one filter, into @out. */
WEIR_API void weir_handle_hash_keys(const struct weir_handle *h, struct weir_keys keys,
                                    uint64_t *out);

/**
 * Remove a key: weir_remove() of the current filter. <weir/handle.h> (Removal) has the safe order.
 * Return: 1: removed; 0: it is not there; or a negative errno.
 * Errors: as weir_remove(); -EAGAIN the handle has no filter yet; -EBUSY a reload runs (of the
 *   key's shard) or the previous filter is kept (one that is void does not count). A removal could
 *   reach one of the filters before the insert, which would make a false negative.
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
 * @bitmap: as for weir_remove_keys(); NULL if only the count matters. It shows which keys were
 *   removed even after an error: a reload may begin between two sections.
 * Return: how many were removed, or a negative errno.
 * Errors: -ENOTSUP, -EROFS as weir_remove_keys(); -EAGAIN, -EBUSY, -EINVAL as
 *   weir_handle_remove_hash(): repeat the keys that were not removed. In a sharded set -EBUSY comes
 *   at the first key whose shard is being replaced; the keys before it are removed.
 * Threads, Order, Progress, Cost: as weir_remove_keys().
 */
WEIR_API int64_t weir_handle_remove_keys(struct weir_handle *h, struct weir_keys keys,
                                         uint64_t *bitmap);

/**
 * Count a key of a handle: weir_count() of the current filter, in a section of its own, also
 * during a reload.
 * Return: as weir_count(), the most often that the key can be there, or a negative errno. A key
 *   that a reload has put there twice counts twice (<weir/handle.h>, Removal).
 * Errors: as weir_count(); -EAGAIN the handle has no filter yet.
 * Threads: as weir_handle_contains().  Order, Progress: as weir_count().
 * Cost: as weir_count(), and a section.
 */
WEIR_API int64_t weir_handle_count(const struct weir_handle *h, const void *key, size_t len);
/** As weir_handle_count(), of the eight bytes at &key: see weir_contains_u64(). */
WEIR_API int64_t weir_handle_count_u64(const struct weir_handle *h, uint64_t key);
/**
 * As weir_handle_count(), of a hash: by weir_handle_hash() or the caller's own function.
 * Errors: as weir_handle_count(); -EINVAL WEIR_HANDLE_ANY_SEED without WEIR_HANDLE_OWN_HASHES: the
 *   hash may be another filter's, and no count of it would be right.
 */
WEIR_API int64_t weir_handle_count_hash(const struct weir_handle *h, uint64_t hash);
/**
 * As weir_handle_count(), of a batch. Each 1 Mi (2^20) keys have a section of their own.
 * @counts: receives the answer of weir_count() for each key.
 * Return: how many of them are not 0, or a negative errno: then @counts may have the answers of
 *   some keys.
 * Errors: -ENOTSUP as weir_count(); -EAGAIN, -EINVAL as weir_handle_count_hash().
 * Threads, Order, Progress, Cost: as weir_handle_count() of each key.
 */
WEIR_API int64_t weir_handle_count_keys(const struct weir_handle *h, struct weir_keys keys,
                                        int64_t *counts);

/* ---- sets of a router, <weir/router.h>: a filter of another kind has one set, 0 ---- */

/**
 * Find the sets of a handle that may have a key: weir_route() of the current filter.
 * Return: before the first filter every set or none, as options.absent says.
 * Errors, Threads, Order, Progress, Cost: as weir_handle_contains().
 */
WEIR_API uint64_t weir_handle_route(const struct weir_handle *h, const void *key, size_t len);
/** As weir_handle_route(), of the eight bytes at &key. */
WEIR_API uint64_t weir_handle_route_u64(const struct weir_handle *h, uint64_t key);
/** As weir_handle_route(), of a hash; with WEIR_HANDLE_ANY_SEED every set, as for
 * weir_handle_contains_hash(). */
WEIR_API uint64_t weir_handle_route_hash(const struct weir_handle *h, uint64_t hash);
/** As weir_route_keys(), of the current filter. The whole call is one section, and a grace period
 * waits for it: pass at most some million keys. */
WEIR_API int64_t weir_handle_route_keys(const struct weir_handle *h, struct weir_keys keys,
                                        uint64_t *masks);

/**
 * Insert a key into one set, through the handle: of the current filter, of the next one during a
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

/** The number of shards: 1 for a set that is not sharded.  Errors: none.  Threads: any. */
WEIR_API uint32_t weir_handle_shards(const struct weir_handle *h);
/** The shard of a hash: its top bits. A loader that first sorts its source by shard reads it once
 * instead of once for each shard.  Errors: none.  Threads: any. */
WEIR_API uint32_t weir_handle_shard(const struct weir_handle *h, uint64_t hash);
/**
 * Get the filter of one shard, as weir_handle_get() does: to save the set shard by shard. The
 * shard's hashes are those of the set, rotated left by log2(shards) bits.
 * @shard: 0 to weir_handle_shards() - 1; not checked.
 */
WEIR_API const struct weir_filter *weir_handle_get_shard(const struct weir_handle *h,
                                                         uint32_t shard);

/** The figures of a handle. Start from WEIR_HANDLE_STATS_INIT. */
struct weir_handle_stats {
	size_t struct_size;       /* sizeof(struct weir_handle_stats) */
	uint64_t generation;      /* of the current filter, or of the newest shard: 1, then one more
	                             with each swap */
	double age;               /* seconds since that was published */
	bool reloading;           /* a reload is open */
	bool previous_kept;       /* weir_handle_rollback() has a filter to go back to; false if
	                             that has refused a key: previous_void */
	bool absent;              /* no filter is published yet: its figures are 0 */
	uint64_t bytes;           /* of bits: all filters, and those call_rcu has still to free */
	uint64_t swaps;           /* commits, refreshes and rollbacks so far */
	uint64_t refused;         /* commits and refreshes that the gate or a bad file stopped */
	double last_reload;       /* seconds from the return of weir_reload_begin(), or the call of
	                             the refresh, until the last commit or refresh published its
	                             filter; 0: none yet */
	double refused_since;     /* seconds since commits and refreshes began to be refused or to
	                             fail, without one that succeeded; 0: not so now */
	char refused_sentence[WEIR_SENTENCE_BYTES]; /* of the last that was refused or failed, even
	                             if one has succeeded since; "": none yet */
	bool nearly_full;         /* the current filter can refuse keys, and has 90 % of the most
	                             keys that fit: begin a reload into a larger one now (see
	                             <weir/handle.h>: Full filters) */
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
 * Measure a handle. refused_since and refused_sentence tell of commits that the gate refused or
 * that failed, and of refreshes, a follower's too, that did not swap. They include refreshes that
 * are tried again (no such file, no memory), which refused does not count. They leave out those
 * that found another writer or that progress stopped. A refresh that finds the file as it was taken
 * over also ends the refusals.
 * @out: from WEIR_HANDLE_STATS_INIT.
 * @filter: from WEIR_STATS_INIT: receives the figures of the current filter, as weir_measure(); for
 *   a sharded set their sums, and the means of figures that are shares. NULL: not wanted.
 * Return: 0 or a negative errno.  Errors: -EINVAL struct_size, of either.
 * Threads, Progress: as weir_handle_contains().
 * Cost: as weir_measure(), and for each shard at least that of a small filter.
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_measure(const struct weir_handle *h,
                                                 struct weir_handle_stats *out,
                                                 struct weir_stats *filter);

WEIR_END_DECLS

#endif
