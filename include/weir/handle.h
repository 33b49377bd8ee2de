/* SPDX-License-Identifier: MIT
 * A handle is a set whose filter can be replaced while threads use it. No lookup blocks, and no
 * insert is lost. Create a handle once. Any thread may then look up and insert through it at any
 * time. Replace its filter by reload.h, or let it follow an image file (follow.h).
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
 *   - the insert began earlier, and the loader's source has the key or weir_reload_copy() copies
 *     it. So the application first writes the key to its own record and then inserts it, and the
 *     loader reads that record after weir_reload_begin().
 * A lookup is later if it reads the published pointer after the insert has returned. Each
 * weir_handle_contains() and weir_handle_get() reads the pointer. A filter from weir_handle_get()
 * is the set as of that call, until the caller's read-side section ends.
 *
 *     at the same time  | contains insert get | reload_insert | begin commit refresh ... | destroy
 *     contains, insert  |         yes         |      yes      |           yes            |  no (a)
 *     get ... use       |         yes         |      yes      |           yes (b)        |  no (a)
 *     begin commit ...  |         yes         |   only begin  |   -EBUSY for all but one |  -EBUSY
 *   A removal counts as an insert, a count as a lookup. A section is an RCU read-side section.
 *   (a) destroy waits for sections that began before it; later sections must not use the handle.
 *   (b) begin, commit, refresh, rollback and destroy wait for all sections. Inside a section they
 *     return -EDEADLK.
 *
 * Several lookups. Each verb of a handle opens an RCU read-side section (liburcu) of its own, which
 * takes 3 to 8 ns: often as much as the lookup. For several keys open one section (urcu/urcu-bp.h)
 * and get the filter once, by two loads. A lookup then costs as much as without a handle:
 *
 *     urcu_bp_read_lock();
 *     const struct weir_filter *now = weir_handle_get(set);
 *     for (size_t i = 0; i < n; i++)
 *             found += weir_contains(now, key[i], len[i]);
 *     urcu_bp_read_unlock();
 *
 * In this section still insert through the handle. The handle's verbs then open a nested section.
 *
 * Flavors. The default is urcu-bp, in which threads need no registration. For another flavor (memb,
 * qsbr, mb) include its urcu header, set options.flavor to &rcu_flavor, and register every thread
 * that calls the verbs. With qsbr a thread must also be online and report quiescent states. The
 * time between two quiescent states is one section. So a thread that has a filter from
 * weir_handle_get() must not call begin, commit, refresh, rollback or destroy before its next
 * quiescent state: weir cannot detect such a call, so it does not return -EDEADLK. For fork(),
 * cancelled threads and plugins see reload.h.
 *
 * Full filters. Kinds that can refuse a key return -ENOSPC when they are full. The handle accepts a
 * key only if the current filter and, during a reload, the next filter accept it. It makes its
 * promise only for accepted keys. If the next filter refuses a key, the handle removes the key from
 * the current filter again. Kinds without removal keep it as a false positive.
 *   - If the current filter is full, reload into a larger one, filled from the application's record
 *     (weir_reload_copy() needs equal sizes). weir_handle_measure() reports nearly_full at 90 % of
 *     the keys that fit at most. Until the commit the handle still refuses keys that the current
 *     filter refuses, since no lookup would find them: insert these keys again after the commit.
 *     Every key that the handle accepts is in both filters.
 *   - If the next filter is full, it is too small for its source. The handle refuses inserts, even
 *     if the current filter has capacity left, until the reload is aborted.
 *   - If the previous filter refuses, the key is inserted, but no rollback can return to the
 *     previous filter: weir_handle_measure() reports previous_void, and weir_handle_rollback()
 *     returns -ENOENT.
 * The handle inserts a batch in the order of its keys, up to the first key that any filter refuses
 * (weir_error_taken()). A lookup during a refused insert may find its key for a moment.
 *
 * Removal. A key is removed from the current filter only. Removals return -EBUSY while a reload
 * runs, or the previous filter is kept: a removal could reach another filter before the key does.
 *   - The safe order is to remove the key from the filter, then to delete the application's record
 *     of it. On -EBUSY keep the record (or a tombstone that the loader still reads), and repeat
 *     both steps after the commit or abort.
 *   - In the other order the loader may miss the key. The repeated removal then lowers counters of
 *     other keys, or removes another key's fingerprint, which makes false negatives. For the same
 *     reason never remove a key whose insert was refused.
 *   - The next filter may have one copy of a key too many, never too few. It gets the extra copy if
 *     the loader reads a key that a live insert adds too, if the key is inserted during
 *     weir_reload_copy(), or if the key was removed just before begin and its record still
 *     existed. Removing such a key leaves a false positive, and in cuckoo a slot stays in use.
 *
 * Sharded sets. If a set is too large to hold twice, use options.shards. A reload then replaces one
 * shard at a time, and the peak memory is the set and one shard. All verbs work on such a set.
 *   - A key is in one shard, so a lookup sees the old or the new contents of that shard. During the
 *     replacement some shards are new and some are old. The promise and the rules of removal hold
 *     for each shard, with the weir_reload_begin() of the key's shard.
 *   - Size, seed and secret never change. No previous filter is kept, and no file can be followed
 *     (-ENOTSUP). A full shard refuses its keys, even if other shards have capacity left.
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
	 * so inserts of hashes fail (-EINVAL), and lookups of hashes return true. */
	WEIR_HANDLE_ANY_SEED = 1,
	/* With WEIR_HANDLE_ANY_SEED: inserts and lookups accept hashes. The caller must make all
	 * hashes by one function of its own, not by weir_hash(), which differs between filters. */
	WEIR_HANDLE_OWN_HASHES = 2,
	/* Each filter, and each file of refresh.h and follow.h, may have another normalisation,
	 * that is, other steps (text.h). The program must pass keys as text, never as hashes.
	 * Without this flag the handle refuses a file whose steps differ from those of the current
	 * filter. Before the first filter it refuses every file that has steps. */
	WEIR_HANDLE_ANY_STEPS = 4,
};

/** The answer to every lookup of a handle that has no filter yet. */
enum weir_absent {
	WEIR_ABSENT_REFUSED = 0, /* weir_handle_create() needs a filter or params */
	WEIR_ABSENT_YES = 1,     /* true: every key may be present, so ask the store */
	/* false: every key is absent. Lookups find an inserted key only once the first filter is
	 * published */
	WEIR_ABSENT_NO = 2,
};

/** How to create a handle. Start from WEIR_HANDLE_OPTIONS_INIT. */
struct weir_handle_options {
	size_t struct_size; /* sizeof(struct weir_handle_options) */
	const struct rcu_flavor_struct *flavor; /* flavor of RCU, see Flavors above; NULL: urcu-bp.
	                                           It must outlive the handle */
	uint32_t flags;          /* enum weir_handle_flags, or'ed */
	enum weir_absent absent; /* answer before the first filter; needs WEIR_HANDLE_ANY_SEED */
	/* Limit in bytes of the memory for keys that are inserted before the first filter.
	 * weir_reload_begin() or a refresh inserts the kept keys into the first filter. 0: refuse
	 * inserts before the first filter. */
	uint64_t keep_inserts;
	/* true: publish a first filter that is too small for all kept keys (cuckoo), and count the
	 * missing keys in kept_dropped. false: refuse such a filter. */
	bool drop_kept;
	/* 16 bytes, copied: the weir_params.secret with which later image files were made. NULL:
	 * the files are not keyed. Not needed with an initial filter, which has its own secret. */
	const void *secret;
	/* Parameters of an empty first filter, if @initial is NULL. A filter whose kind is built
	 * once stays empty until a reload. The library copies all that params point to, except for
	 * the memory at params->memory, which the filter uses in place. */
	const struct weir_params *params;
	/* Number of shards of a sharded set: a power of two from 2 to 65536; 0: not sharded. params
	 * describe the set as a whole. A shard gets its share of the capacity and a reserve, since
	 * hashes do not spread keys evenly. */
	uint32_t shards;
	uint32_t can; /* enum weir_ability, or'ed: abilities that each filter must have */
};
#define WEIR_HANDLE_OPTIONS_INIT WEIR__INIT(weir_handle_options)

/**
 * Create a handle that publishes a filter.
 * @out: receives the handle; untouched on failure.
 * @initial: the first filter, which the handle owns from now on; after a failure the caller still
 *   owns it. With NULL the handle makes the first filter from options.params. Without params it
 *   starts without a filter, and lookups return what options.absent tells until a reload or a
 *   refresh publishes a filter.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL if @out is NULL, none of @initial, options.params and options.absent is given,
 *   options.params is given with @initial or options.absent, options.absent is given without
 *   WEIR_HANDLE_ANY_SEED, or an option is out of its range; -EBUSY if a handle owns @initial
 *   already; -ENOTSUP if the filter lacks an ability in options.can; -ENOMEM; with options.params
 *   as weir_create(). With options.shards -EINVAL if options.params is NULL, has memory, or has
 *   max_bytes below 64 a shard, or if @initial, options.absent, keep_inserts, flags or secret is
 *   given; -ENOTSUP for a router or for params with normalisation.
 * Threads: any.  Order: publish the handle itself with release order (a thread's start does).
 * Progress: blocking (memory).  Cost: under a microsecond.
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_create(struct weir_handle **out,
                                                struct weir_filter *initial,
                                                const struct weir_handle_options *options);

/**
 * Free a handle and all its filters, after waiting for the sections that may still use it. If other
 * threads can still find the handle, they must load its pointer inside a section, and the caller
 * must first clear the pointer. Later readers then find no handle, and the call waits for the
 * earlier readers.
 * @h: a handle; NULL is a no-op.
 * Return: 0 or a negative errno. After an error nothing has happened.
 * Errors: -EBUSY if a reload, refresh, rollback or follower (follow.h) runs; -EDEADLK inside a
 *   read-side section, or in a callback of call_rcu, since the call waits for callbacks. weir
 *   detects such a callback with the flavors bp, memb, mb and qsbr.
 * Threads: the last user.  Progress: blocking (a grace period).
 */
WEIR_API int weir_handle_destroy(struct weir_handle *h);

/* The layouts that the inline functions below read. They never change. */
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
 * Get the current filter, for any number of lookups. Call this inside a read-side section of your
 * own, of the handle's flavor. The filter is valid until that section ends. It is const, since a
 * running reload would lose direct inserts: insert by weir_handle_insert().
 * Return: the filter, never NULL. For a sharded set it is a view that looks up, counts and measures
 *   in all shards. Its other verbs return -ENOTSUP, so save such a set shard by shard
 *   (weir_handle_get_shard()). Before the first filter it is a placeholder, which answers lookups
 *   as options.absent tells; measure, clone, fold, merge, save and params_of fail with -EAGAIN.
 *   With WEIR_HANDLE_ANY_SEED a weir_hash() of this filter is valid only for this filter.
 * Errors: none.  Threads: any, registered with the flavor.  Order: acquire.  Progress: wait-free.
 * Cost: two loads of lines that only a writer of the handle changes.
 */
WEIR_API inline const struct weir_filter *weir_handle_get(const struct weir_handle *h)
{
	return __atomic_load_n(&((const struct weir_handle_head *)h)->generation, __ATOMIC_ACQUIRE)
	        ->current;
}

/**
 * Test whether a key may be in a handle's current filter, in a read-side section of its own.
 * Return, Errors: as weir_contains().
 * Threads: any, registered with the flavor (urcu-bp: any).
 * Order: the call sees every insert through the handle that happens-before it.
 * Progress: wait-free; with urcu-bp a thread's first call registers it (a lock, an allocation).
 * Cost: a lookup, two loads and a section. With urcu-bp the section is inlined and takes about
 *   4 ns; another flavor takes two calls more. For several keys use one section, see
 *   <weir/handle.h> (Several lookups).
 */
WEIR_API inline bool weir_handle_contains(const struct weir_handle *h, const void *key, size_t len)
{
	return ((const struct weir_handle_verbs *)h)->contains(h, key, len);
}
/** As weir_handle_contains(), for the eight bytes at &key: see weir_contains_u64(). */
WEIR_API inline bool weir_handle_contains_u64(const struct weir_handle *h, uint64_t key)
{
	return ((const struct weir_handle_verbs *)h)->contains_u64(h, key);
}
/**
 * As weir_handle_contains(), for a hash of weir_handle_hash() or of the caller's own function.
 * Return: with WEIR_HANDLE_ANY_SEED and without WEIR_HANDLE_OWN_HASHES always true: the hash may be
 *   another filter's, and a key that is present must never be answered false.
 */
WEIR_API inline bool weir_handle_contains_hash(const struct weir_handle *h, uint64_t hash)
{
	return ((const struct weir_handle_verbs *)h)->contains_hash(h, hash);
}
/**
 * Look up a batch through a handle: weir_contains_keys() of the current filter. For hashes with
 * WEIR_HANDLE_ANY_SEED see weir_handle_contains_hash(). Each 1 Mi (2^20) keys have a section of
 * their own, so that a grace period does not wait for the whole batch.
 * Threads, Order, Progress: as weir_handle_contains().  Cost: as weir_contains_keys().
 */
WEIR_API int64_t weir_handle_contains_keys(const struct weir_handle *h, struct weir_keys keys,
                                           uint64_t *bitmap);

/**
 * Insert a key into every filter in use: the current filter, the next filter while a reload runs,
 * and the previous filter while it is kept.
 * Return: as weir_insert() of the current filter; or a negative errno: the handle then removes the
 *   key (Full filters in <weir/handle.h>) and does not promise it. If several threads insert one
 *   new key at the same time, at least one gets WEIR_NEW. If the current filter has
 *   WEIR_CAN_DECIDE, exactly one does, except across a swap, when the threads may ask different
 *   filters. (Two threads inserted each of 112,000 keys during 27,557 reloads by copy. For one key
 *   both threads got WEIR_NEW.) Until the commit a key that only the loader has inserted is
 *   WEIR_NEW. If one of the threads is refused, all others may get WEIR_SEEN. Before the first
 *   filter the answer is WEIR_SEEN with WEIR_ABSENT_YES, and WEIR_NEW with WEIR_ABSENT_NO.
 * Errors: as weir_insert() of the current or the next filter, and while a rollback runs also of the
 *   previous filter. Before the first filter: -EAGAIN if options.keep_inserts is 0; -ENOBUFS if the
 *   kept keys take keep_inserts bytes; -ENOMEM; as weir_insert() of the next filter, and the key
 *   stays kept for a later filter. The first filter may hold fewer copies of a key than were kept
 *   (cuckoo, see filter.h). Then remove the key no more often than the filter can hold copies.
 * Threads, Order, Progress: as weir_handle_contains().
 * Cost: as weir_handle_contains(), and an insert into each filter: about two during a reload.
 *   Before the first filter an allocation, lock-free if malloc() is.
 */
WEIR_API inline int weir_handle_insert(struct weir_handle *h, const void *key, size_t len)
{
	return ((const struct weir_handle_verbs *)h)->insert(h, key, len);
}
/** As weir_handle_insert(), for the eight bytes at &key: see weir_contains_u64(). */
WEIR_API inline int weir_handle_insert_u64(struct weir_handle *h, uint64_t key)
{
	return ((const struct weir_handle_verbs *)h)->insert_u64(h, key);
}
/**
 * As weir_handle_insert(), for a hash of weir_handle_hash() or of the caller's own function.
 * Errors: as weir_handle_insert(); -EINVAL with WEIR_HANDLE_ANY_SEED, unless WEIR_HANDLE_OWN_HASHES
 *   is set too.
 */
WEIR_API inline int weir_handle_insert_hash(struct weir_handle *h, uint64_t hash)
{
	return ((const struct weir_handle_verbs *)h)->insert_hash(h, hash);
}
/**
 * As weir_handle_insert(), for a batch. Each 1 Mi (2^20) keys have a section of their own.
 * @bitmap: as for weir_insert_keys() of the current filter.
 * Return: as weir_insert_keys() of the current filter. After an error the first weir_error_taken()
 *   keys are inserted and promised. All later keys are removed again or not inserted.
 * Errors: as weir_insert_keys() and weir_handle_insert_hash().
 * Threads, Order: as weir_handle_contains().
 * Progress, Cost: as weir_insert_keys() into each filter.
 */
WEIR_API int64_t weir_handle_insert_keys(struct weir_handle *h, struct weir_keys keys,
                                         uint64_t *bitmap);

/**
 * Hash a key as the filters of a handle do, by weir_hash(). All filters have one hash function, and
 * one seed or secret: weir_reload_begin() and weir_handle_refresh() refuse any other filter. With
 * WEIR_HANDLE_ANY_SEED the hash is that of the current filter, and valid only for the filter that
 * weir_handle_get() returns in the same section. Call weir_hash() of that filter instead.
 * Threads, Progress: as weir_handle_contains().
 */
WEIR_API uint64_t weir_handle_hash(const struct weir_handle *h, const void *key, size_t len);
/** As weir_handle_hash(), for the eight bytes at &key. */
WEIR_API uint64_t weir_handle_hash_u64(const struct weir_handle *h, uint64_t key);
/** As weir_handle_hash(), for each key of a batch, all by one filter, into @out. */
WEIR_API void weir_handle_hash_keys(const struct weir_handle *h, struct weir_keys keys,
                                    uint64_t *out);

/**
 * Remove a key of a handle: weir_remove() of the current filter. See <weir/handle.h> (Removal).
 * Return: 1 if the key was removed; 0 if it is absent; or a negative errno.
 * Errors: as weir_remove(); -EAGAIN if the handle has no filter yet; -EBUSY if a reload runs (in a
 *   sharded set: of the key's shard), or if a previous filter is kept and has refused no key. A
 *   removal could then reach a filter before the insert does, which would make a false negative.
 * Threads: any, registered with the flavor, with all verbs of the handle.  Order: as weir_remove().
 * Progress: as weir_remove(); it waits for no writer.  Cost: as weir_remove(), and a section.
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_remove(struct weir_handle *h, const void *key, size_t len);
/** As weir_handle_remove(), for the eight bytes at &key: see weir_contains_u64(). */
WEIR_API WEIR_MUST_CHECK int weir_handle_remove_u64(struct weir_handle *h, uint64_t key);
/**
 * As weir_handle_remove(), for a hash of weir_handle_hash() or of the caller's own function.
 * Errors: as weir_handle_remove(); -EINVAL as weir_handle_insert_hash().
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_remove_hash(struct weir_handle *h, uint64_t hash);
/**
 * As weir_handle_remove(), for a batch. Each 1 Mi (2^20) keys have a section of their own. The call
 * skips absent keys.
 * @bitmap: as for weir_remove_keys(); NULL if only the count matters. It shows which keys were
 *   removed even after an error: a reload may begin between two sections.
 * Return: the number of keys that were removed, or a negative errno.
 * Errors: -ENOTSUP, -EROFS, -EINVAL as weir_remove_keys(); -EINVAL as weir_handle_remove_hash();
 *   -EAGAIN, -EBUSY as weir_handle_remove(): repeat later the keys that were not removed. In a
 *   sharded set -EBUSY comes at the first key whose shard is being replaced, and the keys before it
 *   are removed.
 * Threads, Order, Progress, Cost: as weir_remove_keys().
 */
WEIR_API int64_t weir_handle_remove_keys(struct weir_handle *h, struct weir_keys keys,
                                         uint64_t *bitmap);

/**
 * Count a key of a handle: weir_count() of the current filter, in a section of its own, even during
 * a reload.
 * Return: an upper bound as weir_count(), or a negative errno. A key that a reload has inserted
 *   twice counts twice (<weir/handle.h>, Removal).
 * Errors: as weir_count(); -EAGAIN if the handle has no filter yet.
 * Threads: as weir_handle_contains().  Order, Progress: as weir_count().
 * Cost: as weir_count(), and a section.
 */
WEIR_API int64_t weir_handle_count(const struct weir_handle *h, const void *key, size_t len);
/** As weir_handle_count(), for the eight bytes at &key: see weir_contains_u64(). */
WEIR_API int64_t weir_handle_count_u64(const struct weir_handle *h, uint64_t key);
/**
 * As weir_handle_count(), for a hash of weir_handle_hash() or of the caller's own function.
 * Errors: as weir_handle_count(); -EINVAL as weir_handle_insert_hash(), since the count of another
 *   filter's hash would be wrong.
 */
WEIR_API int64_t weir_handle_count_hash(const struct weir_handle *h, uint64_t hash);
/**
 * As weir_handle_count(), for a batch. Each 1 Mi (2^20) keys have a section of their own.
 * @counts: receives the answer of weir_count() for each key.
 * Return: how many counts are not 0, or a negative errno; @counts may then have the answers of some
 *   keys.
 * Errors: -ENOTSUP, -EINVAL as weir_count_keys(); -EAGAIN, -EINVAL as weir_handle_count_hash().
 * Threads, Order, Progress, Cost: as weir_handle_count() of each key.
 */
WEIR_API int64_t weir_handle_count_keys(const struct weir_handle *h, struct weir_keys keys,
                                        int64_t *counts);

/* ---- sets of a router, <weir/router.h>; a filter of any other kind has one set, number 0 ---- */

/**
 * Find the sets of a handle that may have a key: weir_route() of the current filter.
 * Return: as weir_route(). Before the first filter it is all sets or none, as options.absent tells.
 * Errors, Threads, Order, Progress, Cost: as weir_handle_contains().
 */
WEIR_API uint64_t weir_handle_route(const struct weir_handle *h, const void *key, size_t len);
/** As weir_handle_route(), for the eight bytes at &key. */
WEIR_API uint64_t weir_handle_route_u64(const struct weir_handle *h, uint64_t key);
/** As weir_handle_route(), for a hash. With WEIR_HANDLE_ANY_SEED the mask has all sets in the cases
 * in which weir_handle_contains_hash() returns true. */
WEIR_API uint64_t weir_handle_route_hash(const struct weir_handle *h, uint64_t hash);
/** As weir_route_keys(), for the current filter. The whole call is one section, and a grace period
 * waits for it: pass at most some million keys. */
WEIR_API int64_t weir_handle_route_keys(const struct weir_handle *h, struct weir_keys keys,
                                        uint64_t *masks);

/**
 * Insert a key into one set of a handle: of the current filter, of the next filter during a reload,
 * and of the previous filter while it is kept. All filters have the same sets.
 * Return: as weir_insert_into() of the current filter.
 * Errors: as weir_insert_into() and weir_handle_insert(); -EAGAIN before the first filter.
 * Threads, Order, Progress, Cost: as weir_handle_insert().
 */
WEIR_API int weir_handle_insert_into(struct weir_handle *h, uint32_t set, const void *key,
                                     size_t len);
/** As weir_handle_insert_into(), for the eight bytes at &key. */
WEIR_API int weir_handle_insert_into_u64(struct weir_handle *h, uint32_t set, uint64_t key);
/** As weir_handle_insert_into(), for a hash of weir_handle_hash() or the caller's own function. */
WEIR_API int weir_handle_insert_into_hash(struct weir_handle *h, uint32_t set, uint64_t hash);
/** As weir_insert_into_keys(), for all filters of a handle. The call is one section. */
WEIR_API int64_t weir_handle_insert_into_keys(struct weir_handle *h, uint32_t set,
                                              struct weir_keys keys, uint64_t *bitmap);

/** Get the number of shards of a handle, 1 if it is not sharded.  Errors: none.  Threads: any. */
WEIR_API uint32_t weir_handle_shards(const struct weir_handle *h);
/** Get the shard that the top bits of a hash name. A loader that sorts its source by shard first
 * reads the source once instead of once for each shard.  Errors: none.  Threads: any. */
WEIR_API uint32_t weir_handle_shard(const struct weir_handle *h, uint64_t hash);
/**
 * Get the filter of one shard, as weir_handle_get() does, for example to save the shard. The hashes
 * in a shard are those of the set, rotated left by log2(shards) bits.
 * @shard: 0 to weir_handle_shards() - 1; not checked.
 */
WEIR_API const struct weir_filter *weir_handle_get_shard(const struct weir_handle *h,
                                                         uint32_t shard);

/** The figures of a handle. Start from WEIR_HANDLE_STATS_INIT. */
struct weir_handle_stats {
	size_t struct_size;       /* sizeof(struct weir_handle_stats) */
	uint64_t generation;      /* number of the current filter, or of the newest shard: 1, then
	                             one more with each swap */
	double age;               /* seconds since that filter or shard was published */
	bool reloading;           /* a reload is open */
	bool previous_kept;       /* weir_handle_rollback() can return to the previous filter; false
	                             if that filter has refused a key (previous_void) */
	bool absent;              /* no filter is published yet: the figures in @filter are 0 */
	uint64_t bytes;           /* bytes of bits of all filters, even of those yet to be freed */
	uint64_t swaps;           /* commits, refreshes and rollbacks so far */
	uint64_t refused;         /* commits and refreshes that the gate or a bad file stopped */
	double last_reload;       /* duration in seconds of the last commit or refresh, from the
	                             return of weir_reload_begin() or the call of the refresh until
	                             its filter was published; 0: none yet */
	double refused_since;     /* seconds since commits and refreshes began to fail or to be
	                             refused; 0: no failure or refusal since the last success */
	char refused_sentence[WEIR_SENTENCE_BYTES]; /* sentence of the last commit or refresh that
	                             failed or was refused. A later success does not clear it.
	                             "": none yet */
	bool nearly_full;         /* the current filter can refuse keys, and has 90 % of the keys
	                             that fit at most: reload into a larger filter now (see
	                             <weir/handle.h>: Full filters) */
	bool previous_void;       /* the previous filter refused a key that the current one took, so
	                             no rollback can return to it. The next reload or refresh, or
	                             weir_handle_drop_previous(), frees it */
	uint64_t failed;          /* commits that could not build their filter (kinds that are built
	                             once), for lack of memory, say, or with a low max_bytes */
	uint64_t oldest;          /* generation of the oldest shard; without shards equal to the
	                             field generation */
	uint64_t kept_dropped;    /* kept keys that did not fit in the first filter (drop_kept) */
};
#define WEIR_HANDLE_STATS_INIT WEIR__INIT(weir_handle_stats)

/**
 * Measure a handle. refused_since and refused_sentence cover commits that the gate refused or that
 * failed, and refreshes (also of a follower) that failed. A refresh that fails for a reason that
 * may pass (no such file, no memory) sets both fields too, but does not count in refused. A refresh
 * that found another writer, or that progress stopped, sets neither field. A success clears
 * refused_since, and so does a refresh that finds the file of the current filter.
 * @out: from WEIR_HANDLE_STATS_INIT.
 * @filter: from WEIR_STATS_INIT: receives the figures of the current filter, as weir_measure(). For
 *   a sharded set counts are summed over the shards, and shares are averaged. May be NULL.
 * Return: 0 or a negative errno.  Errors: -EINVAL if a struct_size is wrong.
 * Threads, Progress: as weir_handle_contains().
 * Cost: as weir_measure(), and for each shard at least as for a small filter.
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_measure(const struct weir_handle *h,
                                                 struct weir_handle_stats *out,
                                                 struct weir_stats *filter);

WEIR_END_DECLS

#endif
