/* SPDX-License-Identifier: MIT
 * Reload: replace the filter of a handle under full load, or return to the previous filter. Threads
 * go on inserting through the handle, and no insert is lost (the promise in handle.h).
 *
 *     if (weir_reload_begin(&r, set, NULL) < 0) ...    from here on, inserts go to both filters
 *     for each key of your own records                 read them only now
 *             weir_reload_insert(r, key, len);
 *     err = weir_reload_commit(r);                     asks the gate, switches, and frees r
 *
 * To add keys to the current set instead of replacing it, call weir_reload_copy(r, WEIR_ALL_SETS)
 * before the loop. A loader that fails calls weir_reload_abort(r) instead of the commit. Any number
 * of loader threads may insert. weir_reload_all() does everything in one call, and replaces a
 * sharded set shard by shard.
 *
 * Read the source after weir_reload_begin() has returned. A key that was inserted earlier must come
 * from the source or from the copy. At the peak memory has two filters, or three while the previous
 * filter is kept or a deferred free is pending. handle.h has the rules for reloads of full filters,
 * and for removals.
 *
 * fork(). The child has its own copy of an ordinary filter. A handle of the flavor bp works in the
 * child: the library makes fork() call urcu_bp_before_fork(), urcu_bp_call_rcu_before_fork() and
 * their counterparts, so fork() waits for grace periods. If the program has registered these calls
 * itself by pthread_atfork(), liburcu has already blocked all signals when the library's turn
 * comes; the library sees that and calls nothing. The library also calls nothing in a section, in a
 * thread that blocks all signals, or if weir is a plugin (RTLD_LOCAL) of a program that links
 * liburcu-bp. In these three cases make the calls before and after fork(), or the child may hang.
 * If a program that links liburcu-bp has registered the calls and then loads weir with RTLD_GLOBAL,
 * its fork() hangs. For another flavor make the calls that liburcu documents. If a reload, refresh
 * or rollback runs in another thread at the moment of fork(), it does not end in the child. In the
 * child these verbs then return -EBUSY for that handle. liburcu itself (0.13.2) has a lock that no
 * call protects: if another thread uses the flavor for the first time, or ends, at the very moment
 * of fork(), a new thread of the child may hang. Fork before such threads begin, or exec.
 *
 * Cancellation. A thread may be cancelled (pthread_cancel) at any time. weir_handle_destroy() and
 * the verbs of this header, refresh.h and follow.h that replace a filter or wait for a grace period
 * defer the cancellation until they return. So a cancelled thread does not leave the handle -EBUSY,
 * and a gate's check and a report run with cancellation disabled. But if a loader ends between
 * begin and commit, its reload stays open: abort it in a handler of pthread_cleanup_push().
 *
 * Plugins. A plugin may be closed by dlclose() after its handles are destroyed. libweir.so then
 * stays loaded, since some threads still use liburcu. Link a plugin that contains libweir.a with
 * -z nodelete for the same reason.
 */
#ifndef WEIR_RELOAD_H
#define WEIR_RELOAD_H

#include <weir/build.h>
#include <weir/handle.h>
#include <weir/params.h>

WEIR_BEGIN_DECLS

struct weir_reload;

/**
 * The checks that a filter must pass before it is published. Start from WEIR_GATE_INIT, which every
 * filter with uniform hashes passes. The gate is asked last, when the filter has the keys of the
 * loader, of weir_reload_copy() or carry (refresh.h), and of inserts through the handle. If the
 * gate refuses, the current filter stays, and the sentence names the key or the figure.
 *
 * Every gate also checks that the hashes of the next filter are uniform, unless allow_uneven is
 * set. (For a kind that is built once the builder makes this check, unless build->allow_uneven is
 * set.) A commit without a gate makes only this check, unless the filter was given as options.next.
 * The check takes some 2 % of the time of loading a million keys, 0.4 % for 20 million keys, and up
 * to 0.1 ms for 30,000 keys.
 *
 * Shard of a set. The gate looks up only the canaries of this shard. So an unwanted source may
 * replace the shards before the first shard with a canary. The figures are those of the set with
 * the new shard in it. max_fill and max_fp_rate refuse a shard only if the shard and the set both
 * break the limit. min_keys refuses a shard with fewer keys than chance allows in a set of min_keys
 * keys. If the set would have fewer keys than min_keys, the gate also refuses a shard with fewer
 * keys than both the shard that it replaces and its share of min_keys. It then also refuses the
 * last shard of a round, when all other shards are newer than the shard to replace. So a first load
 * passes, and an empty or short source is refused, mostly at its first shard. To compute the
 * figures, a commit reads a sample: 4 KiB of each other shard, and up to 64 MiB more. If the sample
 * breaks a limit, the commit reads all bits of the set and decides by them. weir_reload_begin()
 * refuses a gate with check set. Instead look up rotated hashes (weir_handle_get_shard()) in
 * weir_reload_next() before the commit.
 */
struct weir_gate {
	size_t struct_size; /* sizeof(struct weir_gate) */
	/* your own check: return 0 to pass, anything else to refuse; NULL: no such check */
	int (*check)(const struct weir_filter *next, void *context);
	void *context;                 /* for check */
	const struct iovec *must_hit;  /* canaries: keys that the set must have; an empty or short
	                                  source lacks them */
	size_t must_hits;              /* number of keys in must_hit */
	const struct iovec *must_miss; /* canaries: keys that the set must lack. With probability
	                                  fp_rate a key makes the gate refuse a good filter */
	size_t must_misses;            /* number of keys in must_miss */
	double max_fill;               /* highest share of bits set, 0 to 1; 0: any */
	double max_fp_rate;            /* highest rate, estimated from the bits; 0: any */
	double min_keys;               /* fewest distinct keys, estimated from the bits; 0: any */
	bool allow_uneven;             /* pass a filter whose hashes are not uniform (hashes_uneven
	                                  in struct weir_stats) */
};
#define WEIR_GATE_INIT WEIR__INIT(weir_gate)

/** How to reload. Start from WEIR_RELOAD_OPTIONS_INIT. */
struct weir_reload_options {
	size_t struct_size;               /* sizeof(struct weir_reload_options) */
	const struct weir_params *params; /* parameters of the next filter: another size, rate, kind
	                                     or memory, which no filter of the handle may still use.
	                                     NULL: kind, size and shape of the current filter, in
	                                     memory of its own, without flags except WEIR_ONCE. Seed
	                                     and secret stay, unless params give another seed or
	                                     secret (WEIR_HANDLE_ANY_SEED) */
	uint64_t max_bytes;               /* limit in bytes of the bits of all filters together; 0:
	                                     no limit. A growing filter counts with its first size,
	                                     though it may grow to its max_capacity */
	bool keep_previous;               /* keep the old filter for a rollback, and insert into it
	                                     too; the placeholder of a new handle is never kept */
	bool defer_free;                  /* the commit does not wait for readers of the old filter:
	                                     call_rcu frees that filter later */
	const struct weir_gate *gate;     /* copied; NULL: a filter passes if its hashes are uniform
	                                     or it is given in options.next */
	double pace;                      /* the share of a core that the loader may use, 0.001 to
	                                     1, see Pace below; 0: as much as it can */
	const struct weir_builder_options *build; /* for a kind that is built once; copied. NULL:
	                                     the defaults */
	struct weir_filter *next;         /* the next filter itself, loaded from an image, say,
	                                     instead of params and build. weir_reload_insert*() and
	                                     weir_reload_copy() complete it. The handle owns it once
	                                     weir_reload_begin() succeeds. If that call fails, the
	                                     caller still owns it, and it may have keys that were
	                                     kept for the first filter */
	uint32_t shard;                   /* the shard to replace, in a sharded set. Its size cannot
	                                     change, so params, next, max_bytes, keep_previous and
	                                     defer_free are refused. (An abort inside a read-side
	                                     section frees the shard after that section, even if
	                                     another replacement has begun) */
};
#define WEIR_RELOAD_OPTIONS_INIT WEIR__INIT(weir_reload_options)

/*
 * Kinds that are built once (build.h) are reloaded by the same verbs, with these differences.
 *  - Such a filter may follow only a filter that takes no inserts: another filter of such a kind, a
 *    filter that is mapped read-only, or the placeholder of a handle without keep_inserts. Any
 *    other handle refuses it (-ENOTSUP), since live inserts would be lost. During the reload
 *    inserts through the handle return what they returned before.
 *  - If params.capacity is 0, or there are no params, the filter becomes as large as the added keys
 *    need. Without params it has the kind, rate and hash of the current filter.
 *  - weir_reload_insert*() collect keys and return 0, for new and for old keys. After a failure the
 *    reload can only be aborted. weir_reload_copy() returns -ENOTSUP.
 *  - weir_reload_commit() builds, then asks the gate, then publishes. If weir_builder_finish()
 *    fails, the commit ends the reload with that error, and weir_handle_measure() counts it in
 *    weir_handle_stats.failed. If the progress of options.build stops the commit, the reload is
 *    aborted.
 *  - Until the commit the next filter takes no memory, and the keys take 8 bytes each.
 *    weir_reload_next() returns NULL. weir_reload_measure() counts the added keys, duplicates
 *    included; with a capacity of 0 weir_reload_stats.share is 0.
 *  - With a pace one thread builds.
 *  - The shards of a set become as large as their keys need. If the capacity is not 0, a commit
 *    refuses a shard with more keys than its share plus six standard deviations of random hashes.
 */

/*
 * Pace limits how much a loader disturbs readers. With a pace of 0.1 a loader thread sleeps 18 ms
 * after each 2 ms of CPU time that it spends in the verbs of the reload. So the reload takes about
 * ten times as long, or up to twenty times if its caches are cold after each sleep. The time to
 * read the source, between the verbs, does not count.
 *  - weir_reload_begin() has the kernel zero the pages of the next filter before it publishes the
 *    filter, so that inserts take no page faults. It zeroes memory of the caller without a pause.
 *  - weir_reload_insert*(), weir_reload_copy() and the gate's counting work in pieces and sleep
 *    between them. Each loader thread sleeps for itself. If a call ends before it has slept enough,
 *    the next of these calls, or the commit, sleeps the rest. Only one in 256 calls for a single
 *    key is timed. With a pace of 1 no thread sleeps.
 *  - weir_reload_commit() reads a filter of up to 32 MiB after publishing it, to bring it into the
 *    cache that cores share.
 *  - In a read-side section no thread sleeps, since grace periods would wait. The next call outside
 *    the section sleeps. With qsbr a verb that sleeps, or commits, passes a quiescent state.
 *  - No call ends early, even if its thread is cancelled or you want to abort: with a pace of 0.001
 *    a call with 1 Mi keys takes 20 seconds. So pass some thousands of keys a call, to be able to
 *    abort between two calls. In a refresh, progress can stop the call (refresh.h).
 *  - The pace does not slow down grace periods, the gate's canaries and check, or freeing a filter.
 * The bits are the same with and without a pace.
 */

/**
 * Begin a reload: make the next filter, publish it beside the current filter, and wait until
 * every inserter has seen it. After this call each insert through the handle goes to both filters.
 * @out: receives the reload; untouched on failure.
 * @options: copied, with the gate; the keys and the context that the gate points to must live until
 *   the commit. NULL for the defaults.
 * Return: 0 or a negative errno. After an error nothing has changed.
 * Errors: -EBUSY if a reload, refresh or rollback runs; -EDEADLK inside a read-side section; -EFBIG
 *   above max_bytes; -EINVAL, -ENOTSUP, -ENOMEM as weir_create(); -EINVAL if an argument is NULL,
 *   params are NULL before the first filter, params.memory overlaps the bits of the current filter,
 *   the previous filter or a filter that call_rcu has still to free, a router has other sets than
 *   the current filter, or pace or a limit of the gate is out of its range; -EINVAL without
 *   WEIR_HANDLE_ANY_SEED if params name another seed or secret, or a kind with another hash; before
 *   the first filter as weir_insert(), for a kept key; -ENOTSUP if the kind is built once and the
 *   handle takes inserts, or if the filter or its kind lacks an ability in weir_handle_options.can.
 *   With options.next also -EINVAL if options.params or options.build is given, if options.next is
 *   a filter of the handle or shares memory with one, if it has another hash without
 *   WEIR_HANDLE_ANY_SEED, or other normalisation steps without WEIR_HANDLE_ANY_STEPS; -EROFS if it
 *   is mapped read-only and the handle takes inserts; -EBUSY if another handle owns it. For a
 *   sharded set -EBUSY if another shard is being replaced; -EINVAL for the shard, a refused option
 *   or a gate's check.
 * Threads: any; one reload at a time.  Progress: blocking (memory, a grace period, the pace).
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_begin(struct weir_reload **out, struct weir_handle *h,
                                               const struct weir_reload_options *options);

/**
 * Insert a batch into the next filter only. The reload of a shard accepts keys or hashes of the
 * whole set and skips those of other shards (WEIR_SEEN for a single key), so the loader may offer
 * its whole source to each shard.
 * @keys: of any form. With WEIR_HANDLE_ANY_SEED hashes must come from weir_hash() of the next
 *   filter or, with WEIR_HANDLE_OWN_HASHES, from the caller's own function.
 * Return, Errors, Order, Progress, Cost: as weir_insert_keys(), weir_error_taken() too; with a pace
 *   the call may sleep. For a kind that is built once it returns 0 and sets no bit of @bitmap.
 * Threads: any number of loader threads, with inserts and lookups through the handle. All loader
 *   threads must have finished before the commit.
 */
WEIR_API int64_t weir_reload_insert_keys(struct weir_reload *r, struct weir_keys keys,
                                         uint64_t *bitmap);

/**
 * Seal the included keys of a reload, before weir_reload_exclude_keys(). Only kinds that are exact
 * on both lists (layered) have an exclude list. Without this call it is empty. If the options have
 * no params, the next filter gets fp_rate and fingerprint_bits of the current filter.
 * @r: the reload.
 * Return: 0 or a negative errno; after a failure the reload can only be aborted.
 * Errors: -ENOTSUP if the next filter's kind has no exclude list; as weir_builder_seal().
 * Threads: the loader, while no other thread inserts.  Order: none.  Progress: blocking.
 * Cost: as weir_builder_seal().
 * Source: as weir_builder_seal().
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_seal(struct weir_reload *r);
/**
 * Exclude a batch of keys from the next filter, once the reload is sealed.
 * Return, Errors, Cost: as weir_builder_exclude_keys(). If a key is in both lists,
 *   weir_reload_commit() returns -EEXIST, as weir_builder_finish() does.
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_exclude_keys(struct weir_reload *r, struct weir_keys keys);

/**
 * Insert a batch into one set of the next router.
 * @set: below weir_router_sets().
 * @bitmap: as for weir_insert_keys().
 * Return: as weir_insert_into_keys().
 * Errors: as weir_reload_insert_keys(); -EINVAL if the set does not exist.
 * Threads: loader threads.  Progress: as weir_insert_into_keys(); with a pace the call may sleep.
 */
WEIR_API int64_t weir_reload_insert_into_keys(struct weir_reload *r, uint32_t set,
                                              struct weir_keys keys, uint64_t *bitmap);
/** As weir_reload_insert_into_keys(), for one key.  Return: as weir_insert_into(). */
static inline int weir_reload_insert_into(struct weir_reload *r, uint32_t set, const void *key,
                                          size_t len)
{
	const struct iovec one = { (void *)(uintptr_t)key, len };
	return (int)weir_reload_insert_into_keys(r, set, weir_keys_iov(&one, 1), NULL);
}
/** As weir_reload_insert_into(), for the eight bytes at &key. */
static inline int weir_reload_insert_into_u64(struct weir_reload *r, uint32_t set, uint64_t key)
{
	return (int)weir_reload_insert_into_keys(r, set, weir_keys_u64(&key, 1), NULL);
}
/** As weir_reload_insert_into(), for a hash of weir_handle_hash() or the caller's own function. */
static inline int weir_reload_insert_into_hash(struct weir_reload *r, uint32_t set, uint64_t hash)
{
	return (int)weir_reload_insert_into_keys(r, set, weir_keys_hashes(&hash, 1), NULL);
}

/**
 * Merge the current filter into the next filter. Afterwards the next filter has every insert that
 * began before weir_reload_begin() returned. In a kind that counts, a key that is inserted during
 * the copy may count once too often in the next filter, never too seldom.
 * @sets: a mask of the sets to merge: WEIR_ALL_SETS, or to clear set i of a router, a mask of all
 *   sets but i.
 * Return: 0 or a negative errno.
 * Errors: as weir_merge(); -EINVAL if the two filters differ in kind, size, shape, seed or secret.
 *   After an error the next filter may have some keys of the current filter. If the kind can remove
 *   keys, abort the reload after an error, and never copy twice: a second copy counts keys twice.
 *   Before the first filter the call merges nothing and succeeds.
 * Threads: as weir_reload_insert().  Progress: as weir_merge(); with a pace the call may sleep. A
 *   cuckoo filter is copied in one piece, and inserts into it may wait for the whole copy
 *   (filter.h).
 * Cost: memory bandwidth; cuckoo 25 ns a key.
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_copy(struct weir_reload *r, uint64_t sets);

/** How far a reload has come. Start from WEIR_RELOAD_STATS_INIT. */
struct weir_reload_stats {
	size_t struct_size; /* sizeof(struct weir_reload_stats) */
	double keys;        /* distinct keys in the next filter, estimated from its bits */
	double share;       /* keys / capacity of the next filter */
	double seconds;     /* since weir_reload_begin() returned */
};
#define WEIR_RELOAD_STATS_INIT WEIR__INIT(weir_reload_stats)
/**
 * Estimate how far a reload has come. Inserters do not count keys for this estimate, so they do not
 * slow each other.
 * @out: from WEIR_RELOAD_STATS_INIT.
 * Return: 0 or a negative errno.  Errors: -EINVAL if struct_size is wrong.
 * Threads: as weir_reload_insert().  Progress, Cost: as weir_measure().
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_measure(const struct weir_reload *r,
                                                  struct weir_reload_stats *out);

/**
 * Get the next filter of a reload, for lookups and statistics until the commit or abort.
 * Return: the filter; NULL for a kind that is built once.
 * Errors: none.  Threads: as weir_reload_insert().  Progress: wait-free.  Cost: a load.
 */
WEIR_API const struct weir_filter *weir_reload_next(const struct weir_reload *r);

/**
 * Commit a reload: ask the gate, publish the next filter as the current one, wait for a grace
 * period, and free the old filter.
 * @r: is freed, unless the call returns -EDEADLK.
 * Return: 0 or a negative errno.
 * Errors: -ECANCELED if the gate refused or, without a gate, the hashes are not uniform: the reload
 *   is aborted and the current filter stays; -EDEADLK inside a read-side section. For a kind that
 *   is built once also as weir_builder_finish(), and the current filter stays.
 * Threads: one, after all loader threads have finished.
 * Progress: blocking (a grace period, unless defer_free is set; the pace, while the gate counts). A
 *   refusal with a new sentence may wait for a grace period even with defer_free, before
 *   weir_handle_measure() shows it.
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_commit(struct weir_reload *r);

/**
 * Abort a reload. The current filter stays and has missed no insert.
 * @r: is freed; NULL is a no-op.
 * Return: 0.  Errors: none.  Threads: as weir_reload_commit().
 * Progress: blocking (a grace period), unless defer_free is set or the caller is in a section.
 */
WEIR_API int weir_reload_abort(struct weir_reload *r);

/** Inserts the source into a reload, which replaces shard number @shard or, if the set is not
 * sharded, the whole filter (@shard is 0).
 * Return: 0; any other value aborts the reload and ends weir_reload_all(). */
typedef int weir_reload_fill_fn(struct weir_reload *r, uint32_t shard, void *context);
/**
 * Replace a whole set: begin, call @fill, commit. A sharded set is replaced shard by shard.
 * @options: as for weir_reload_begin(), but shard is ignored. NULL for the defaults.
 * @fill: called once, or once for each shard, with @context.
 * Return: 0, or the first error. The shards before the failed shard are then new, and the failed
 *   shard and all later shards are old. You may call again.
 * Errors: as weir_reload_begin() and weir_reload_commit(); -EINVAL if an argument is NULL; the
 *   value of @fill, if it was not 0.
 * Threads, Progress: as weir_reload_begin(), and as @fill.
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_all(struct weir_handle *h,
                                             const struct weir_reload_options *options,
                                             weir_reload_fill_fn *fill, void *context);

/**
 * Roll back a handle: publish the previous filter, kept by keep_previous, as the current one, and
 * free the rejected filter. No insert is lost, since the previous filter has received every insert.
 * Return: 0 or a negative errno. After an error nothing has changed.
 * Errors: -ENOENT if no previous filter is kept, or it is void: it refused a key that the current
 *   filter took (the sentence tells; see handle.h, Full filters); -EBUSY, -EDEADLK as
 *   weir_reload_begin(); -ENOTSUP if the set is sharded; -ENOMEM.
 * Threads: as weir_reload_begin().  Progress: blocking (a grace period).
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_rollback(struct weir_handle *h);
/**
 * Free the previous filter of a handle, void or not, when you no longer need a rollback.
 * Return, Threads, Progress: as weir_handle_rollback().
 * Errors: as weir_handle_rollback(), but -ENOENT only if no previous filter is kept.
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_drop_previous(struct weir_handle *h);

/* ---- verbs for one key: each passes a batch of one ---- */

/** As weir_reload_insert_keys(), for one key. */
static inline int weir_reload_insert(struct weir_reload *r, const void *key, size_t len)
{
	struct iovec one = { (void *)(uintptr_t)key, len };
	return (int)weir_reload_insert_keys(r, weir_keys_iov(&one, 1), NULL);
}
/** As weir_reload_insert(), for the eight bytes at &key. */
static inline int weir_reload_insert_u64(struct weir_reload *r, uint64_t key)
{
	return (int)weir_reload_insert_keys(r, weir_keys_u64(&key, 1), NULL);
}
/** As weir_reload_insert(), for a hash. */
static inline int weir_reload_insert_hash(struct weir_reload *r, uint64_t hash)
{
	return (int)weir_reload_insert_keys(r, weir_keys_hashes(&hash, 1), NULL);
}
/** As weir_reload_exclude_keys(), for one key. */
static inline WEIR_MUST_CHECK int weir_reload_exclude(struct weir_reload *r, const void *key,
                                                      size_t len)
{
	struct iovec one = { (void *)(uintptr_t)key, len };
	return weir_reload_exclude_keys(r, weir_keys_iov(&one, 1));
}
/** As weir_reload_exclude(), for the eight bytes at &key. */
static inline WEIR_MUST_CHECK int weir_reload_exclude_u64(struct weir_reload *r, uint64_t key)
{
	return weir_reload_exclude_keys(r, weir_keys_u64(&key, 1));
}
/** As weir_reload_exclude(), for a hash. */
static inline WEIR_MUST_CHECK int weir_reload_exclude_hash(struct weir_reload *r, uint64_t hash)
{
	return weir_reload_exclude_keys(r, weir_keys_hashes(&hash, 1));
}

WEIR_END_DECLS

#endif
