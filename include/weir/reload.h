/* SPDX-License-Identifier: MIT
 * Replace the filter of a handle under full load, or go back to the previous one. Inserts through
 * the handle go on and none is lost (the promise in handle.h).
 *
 *     if (weir_reload_begin(&r, set, NULL) < 0) ...    from here on, inserts go to both filters
 *     for each key of your own records                 read them only now
 *             weir_reload_insert(r, key, len);
 *     err = weir_reload_commit(r);                     asks the gate, switches, and frees r
 *
 * To add to the current set instead of replacing it, call weir_reload_copy(r, WEIR_ALL_SETS) before
 * the loop. A loader that fails calls weir_reload_abort(r), not the commit. Any number of loader
 * threads may insert. weir_reload_all() does all in one call, for a sharded set shard by shard.
 *
 * Read the source after weir_reload_begin() has returned: a key that was inserted earlier must come
 * from that source or from the copy. At the peak there are two filters, or three while the previous
 * one is kept or a deferred free is due. handle.h has the rules for a reload of a full filter, and
 * for keys that are removed.
 *
 * fork(). The child has its own copy of an ordinary filter. A handle of the flavor bp works in the
 * child: the library makes fork() call urcu_bp_before_fork(), urcu_bp_call_rcu_before_fork() and
 * their counterparts, so fork() waits for grace periods. If the program has registered them itself
 * by pthread_atfork(), liburcu has blocked all signals by then: the library sees that and calls
 * nothing. It also calls nothing in a section, in a thread that blocks all signals, or if weir is a
 * plugin (RTLD_LOCAL) of a program that has liburcu-bp itself: call them there before and after
 * fork(), or the child may hang. If such a program has registered them and then loads weir with
 * RTLD_GLOBAL, its fork() hangs. For another flavor make the calls that liburcu documents. A handle
 * that a writer in another thread holds at the moment of fork() stays -EBUSY in the child.
 *
 * Cancellation. A thread may be cancelled (pthread_cancel) at any time. The verbs that claim the
 * handle or wait for a grace period, weir_handle_destroy() and those of this header, refresh.h
 * and follow.h, hold the cancellation back until they return. So the handle does not stay claimed,
 * and a gate's check and a report run with cancellation disabled. But a reload that is open when
 * its loader ends stays open: abort it in a handler of pthread_cleanup_push().
 *
 * Plugins. A plugin may be closed by dlclose() when its handles are destroyed. libweir.so then
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
 * filter with uniform hashes passes. The gate is asked last, when the loader, weir_reload_copy() or
 * carry (refresh.h), and the inserts through the handle until then, have filled the filter. If it
 * refuses, the current filter stays, and the sentence names the key or the figure.
 *
 * Every gate also checks that the hashes of the next filter are uniform, unless allow_uneven is set
 * (for a kind that is built once the builder does: build->allow_uneven). A commit without a gate
 * checks that alone, unless the filter was given as options.next. The check takes some 2 % of the
 * time that a million keys take, 0.4 % for 20 million, and up to 0.1 ms for 30,000.
 *
 * For a shard of a set the gate looks up the canaries that lie in it, as the set does; the others
 * are left to their own shards. So an unwanted source may replace the shards before the first one
 * that has a canary. The figures are those of the set with the new shard in it. max_fill and
 * max_fp_rate refuse a shard that breaks the limit itself, if the set would break it too. min_keys
 * refuses a shard with far fewer keys than chance allows in a shard of a set of min_keys keys. If
 * the set would have fewer than min_keys, it also refuses a shard that has fewer keys than its
 * predecessor and than its share of min_keys, and the last shard of a round (all others were
 * replaced since it was). So a first load passes, and a source that is empty or cut short is
 * refused, mostly at once. For these figures a commit reads up to 64 MiB of the other shards and
 * 4 KiB of each, and before a refusal all of them. weir_reload_begin() refuses a check: look at
 * weir_reload_next() before the commit, by hashes that are rotated (weir_handle_get_shard()).
 */
struct weir_gate {
	size_t struct_size; /* sizeof(struct weir_gate) */
	/* your own check: 0 passes, anything else refuses; NULL: none */
	int (*check)(const struct weir_filter *next, void *context);
	void *context;                 /* for check */
	const struct iovec *must_hit;  /* canaries: keys that the set must have; a source that is
	                                  empty or cut short lacks them */
	size_t must_hits;              /* how many */
	const struct iovec *must_miss; /* canaries: keys that it must lack; by chance each refuses a
	                                  good filter with probability fp_rate */
	size_t must_misses;            /* how many */
	double max_fill;               /* share of bits set, 0 to 1; 0: any */
	double max_fp_rate;            /* of the bits as they are, not as asked; 0: any */
	double min_keys;               /* distinct keys, estimated from the bits; 0: any */
	bool allow_uneven;             /* pass a filter whose hashes are not uniform (weir_stats has
	                                  hashes_uneven) */
};
#define WEIR_GATE_INIT WEIR__INIT(weir_gate)

/** How to reload. Start from WEIR_RELOAD_OPTIONS_INIT. */
struct weir_reload_options {
	size_t struct_size;               /* sizeof(struct weir_reload_options) */
	const struct weir_params *params; /* of the next filter: another size, rate, kind or memory
	                                     (none that a filter of the handle still uses); NULL:
	                                     kind, size and shape of the current one, in private
	                                     memory, without flags. Seed and secret stay, whether
	                                     given again or not; with WEIR_HANDLE_ANY_SEED only if
	                                     none is given. */
	uint64_t max_bytes;               /* of bits, all filters together; 0: no limit. A growing
	                                     filter counts as it begins: it grows on up to its
	                                     max_capacity */
	bool keep_previous;               /* for a rollback: the old filter gets every insert too;
	                                     the placeholder before a first filter is never kept */
	bool defer_free;                  /* the commit does not wait: call_rcu frees the filter */
	const struct weir_gate *gate;     /* copied; NULL: every filter passes whose hashes are
	                                     uniform, and any that is given as next */
	double pace;                      /* the share of a core that the loader may take, 0.001 to
	                                     1: see below; 0: it works as fast as it can */
	const struct weir_builder_options *build; /* for a kind that is built once; copied. NULL
	                                     for the defaults */
	struct weir_filter *next;         /* the next filter itself, loaded from an image, say, in
	                                     place of params and build: weir_reload_insert*() and
	                                     weir_reload_copy() complete it. Begin takes ownership;
	                                     if it fails, the filter is the caller's again, and may
	                                     have keys that were kept for the first filter */
	uint32_t shard;                   /* the one to replace, in a sharded set. Size and peak of
	                                     the set are fixed, so params, next, max_bytes,
	                                     keep_previous and defer_free are refused. (An abort
	                                     inside a read-side section frees its shard after that
	                                     section, even if another replacement has begun.) */
};
#define WEIR_RELOAD_OPTIONS_INIT WEIR__INIT(weir_reload_options)

/*
 * Kinds that are built once (build.h): the same verbs, with these differences.
 *  - Such a filter may follow only one that takes no inserts: one of such a kind, one that is
 *    mapped read-only, or the placeholder of a handle without keep_inserts. Any other handle
 *    refuses it (-ENOTSUP), since live inserts would be lost. An insert through the handle returns
 *    the same as before.
 *  - params.capacity may be 0: as many keys as come. Without params the next filter has kind, rate
 *    and hash of the current one, and as many keys as come.
 *  - weir_reload_insert*() collect keys and return 0, whether a key is new or not. After a failure
 *    the reload can only be aborted. weir_reload_copy() returns -ENOTSUP.
 *  - weir_reload_commit() builds, then asks the gate, then publishes. If weir_builder_finish()
 *    fails, the reload ends with its error, and weir_handle_measure() counts it as failed. If the
 *    progress of options.build stopped it, it ends as by weir_reload_abort().
 *  - Until the commit the next filter takes no memory, and the keys take 8 bytes each.
 *    weir_reload_next() returns NULL. weir_reload_measure() counts the keys that were added,
 *    duplicates too; share is 0 with a capacity of 0.
 *  - With a pace one thread builds.
 *  - The shards of a set become as large as their keys need. If the capacity is not 0, a commit
 *    refuses a shard with more keys than its share plus six standard deviations of random hashes.
 */

/*
 * Pace: a loader that takes little from the readers. With 0.1 a loader thread sleeps 18
 * milliseconds after each two of CPU time that it spends in the verbs of the reload. So the reload
 * takes about ten times as long, up to twenty if its caches are cold after each sleep, and its load
 * on the readers spreads over that time. The time to read the source, between the verbs, does not
 * count.
 *  - weir_reload_begin() lets the system clear the pages of the next filter before it publishes
 *    the filter: no inserter has a page fault there. It clears the caller's memory at once.
 *  - weir_reload_insert*(), weir_reload_copy() and the gate's counting work in pieces and sleep
 *    between them, each loader thread for itself. The next of these calls, and at last the commit,
 *    sleeps off what is left. One in 256 calls for single keys is timed. With 1 no thread sleeps.
 *  - weir_reload_commit() reads a filter of up to 32 MiB when it has published it, to bring it into
 *    the cache that cores share.
 *  - In a read-side section no thread sleeps: grace periods would wait. The next call outside
 *    sleeps. With qsbr a verb that sleeps passes through a quiescent state, as the commit does.
 *  - A call does not end early, even if its thread is cancelled or the reload is to be given up:
 *    with 0.001, 1 Mi keys in one call take 20 seconds. Pass some thousands of keys a call, and the
 *    reload can be aborted between two calls. In a refresh, progress can stop the call (refresh.h).
 *  - The pace leaves grace periods, the gate's canaries and its check, and the freeing of the old
 *    filter as they are.
 * The bits are the same with and without a pace.
 */

/**
 * Make the next filter, publish it beside the current one, and wait until every inserter has seen
 * it. Once this call has returned, each insert through the handle goes to both.
 * @out: receives the reload; untouched on failure.
 * @options: copied, and its gate too; the keys and the context that the gate points to must live
 *   until the commit. NULL for the defaults.
 * Return: 0 or a negative errno, and nothing has changed.
 * Errors: -EBUSY a reload, refresh or rollback runs; -EDEADLK inside a read-side section; -EFBIG
 *   more than max_bytes; -EINVAL, -ENOTSUP, -ENOMEM as weir_create(); -EINVAL NULL, params name
 *   another seed, secret or a kind that hashes otherwise (not with WEIR_HANDLE_ANY_SEED), params
 *   are NULL before the first filter, params.memory overlaps the bits of the current filter, the
 *   previous one or one that call_rcu has still to free, a router with other sets than the current
 *   one, or pace or a limit of the gate is out of its range; before the first filter those of
 *   weir_insert(), for a key that was kept for it; -ENOTSUP the kind is built once, and the handle
 *   takes inserts. With options.next also -EINVAL params or build is given too, or it is one of the
 *   handle's filters, shares memory with one, hashes otherwise (not with WEIR_HANDLE_ANY_SEED), or
 *   has other steps of normalisation (not with WEIR_HANDLE_ANY_STEPS); -EROFS it is mapped
 *   read-only, and the handle takes inserts; -EBUSY another handle owns it.
 *   -ENOTSUP the filter or its kind lacks an ability that the handle asks of each
 *   (weir_handle_options.can). For a sharded set -EBUSY another shard is being replaced, and
 *   -EINVAL the shard, an option or the gate's check that is refused.
 * Threads: any; one reload at a time.  Progress: blocking (memory, a grace period, the pace).
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_begin(struct weir_reload **out, struct weir_handle *h,
                                               const struct weir_reload_options *options);

/**
 * Insert a batch into the next filter only. The reload of a shard takes keys or hashes of the whole
 * set and passes over those of other shards (a single one is answered WEIR_SEEN), so the loader may
 * offer its whole source to each shard.
 * @keys: of any form. With WEIR_HANDLE_ANY_SEED hashes are by weir_hash() of the next filter or,
 *   with WEIR_HANDLE_OWN_HASHES, by the caller's own function.
 * Return, Errors, Order, Progress, Cost: as weir_insert_keys(), weir_error_taken() too; with a pace
 *   it may sleep. A kind that is built once returns 0 and sets no bit of @bitmap.
 * Threads: any number of loader threads, with inserts and lookups through the handle. All of them
 *   must have finished before the commit.
 */
WEIR_API int64_t weir_reload_insert_keys(struct weir_reload *r, struct weir_keys keys,
                                         uint64_t *bitmap);

/**
 * Seal the included keys: those of the exclude list come next. For kinds that are exact on such a
 * list too (layered). Without this call the list is empty. The next filter has the numbers of the
 * current one's shape, unless the options give others.
 * @r: the reload.
 * Return: 0 or a negative errno; after a failure it can only be aborted.
 * Errors: -ENOTSUP the next filter's kind has no exclude list; as weir_builder_seal().
 * Threads: the loader, while no other thread inserts.  Order: none.  Progress: blocking.
 * Cost: as weir_builder_seal().
 * Source: as weir_builder_seal().
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_seal(struct weir_reload *r);
/**
 * Exclude a batch of keys, when the reload is sealed.
 * Return, Errors, Cost: as weir_builder_exclude_keys(). If a key is in both lists,
 *   weir_reload_commit() returns -EEXIST, as weir_builder_finish() does.
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_exclude_keys(struct weir_reload *r, struct weir_keys keys);

/**
 * Insert a batch into one set of the next router, otherwise as weir_reload_insert_keys().
 * @set: below weir_router_sets().
 * @bitmap: as for weir_insert_keys().
 * Return: as weir_insert_into_keys().
 * Errors: those of weir_reload_insert_keys(); -EINVAL the set does not exist.
 * Threads: loader threads.  Progress: as weir_insert_into_keys(); with a pace it may sleep.
 */
WEIR_API int64_t weir_reload_insert_into_keys(struct weir_reload *r, uint32_t set,
                                              struct weir_keys keys, uint64_t *bitmap);
/** As weir_reload_insert_into_keys(), of one key.  Return: as weir_insert_into(). */
static inline int weir_reload_insert_into(struct weir_reload *r, uint32_t set, const void *key,
                                          size_t len)
{
	const struct iovec one = { (void *)(uintptr_t)key, len };
	return (int)weir_reload_insert_into_keys(r, set, weir_keys_iov(&one, 1), NULL);
}
/** As weir_reload_insert_into(), of the eight bytes at &key. */
static inline int weir_reload_insert_into_u64(struct weir_reload *r, uint32_t set, uint64_t key)
{
	return (int)weir_reload_insert_into_keys(r, set, weir_keys_u64(&key, 1), NULL);
}
/** As weir_reload_insert_into(), of a hash: by weir_handle_hash() or the caller's own function. */
static inline int weir_reload_insert_into_hash(struct weir_reload *r, uint32_t set, uint64_t hash)
{
	return (int)weir_reload_insert_into_keys(r, set, weir_keys_hashes(&hash, 1), NULL);
}

/**
 * Merge the current filter into the next one. Afterwards the next filter has every insert that
 * began before weir_reload_begin() returned. In a kind that counts, a key that is inserted during
 * the copy may count once too often in the next filter, never too seldom.
 * @sets: a mask of the sets to merge: WEIR_ALL_SETS; or all but bit i, to clear set i of a router.
 * Return: 0 or a negative errno.
 * Errors: as weir_merge(), but then the next filter has a part of the current one. If its kind
 *   removes keys, abort the reload: a second copy would count keys twice, and so would a copy after
 *   one that succeeded; -EINVAL the two differ in kind, size, shape, seed or secret. Before the
 *   first filter there is nothing to merge, and no error.
 * Threads: as weir_reload_insert().  Progress: as weir_merge(); with a pace it may sleep, except
 *   for cuckoo, which copies at once: its inserts may have to wait for the whole copy (filter.h).
 * Cost: memory bandwidth; cuckoo 25 ns a key.
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_copy(struct weir_reload *r, uint64_t sets);

/** How far a reload is. Start from WEIR_RELOAD_STATS_INIT. */
struct weir_reload_stats {
	size_t struct_size; /* sizeof(struct weir_reload_stats) */
	double keys;        /* distinct keys in the next filter, estimated from its bits */
	double share;       /* keys / its capacity */
	double seconds;     /* since weir_reload_begin() returned */
};
#define WEIR_RELOAD_STATS_INIT WEIR__INIT(weir_reload_stats)
/**
 * Estimate how far a reload is. Inserters count nothing for it, so they do not slow each other.
 * @out: from WEIR_RELOAD_STATS_INIT.
 * Return: 0 or a negative errno.  Errors: -EINVAL struct_size.
 * Threads: as weir_reload_insert().  Progress, Cost: as weir_measure().
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_measure(const struct weir_reload *r,
                                                  struct weir_reload_stats *out);

/**
 * The next filter, for lookups and statistics until the commit or abort.
 * Return: the filter; NULL for a kind that is built once.
 * Errors: none.  Threads: as weir_reload_insert().  Progress: wait-free.  Cost: a load.
 */
WEIR_API const struct weir_filter *weir_reload_next(const struct weir_reload *r);

/**
 * Ask the gate, publish the next filter as the current one, wait for a grace period, and free the
 * old filter.
 * @r: is freed, unless the call returns -EDEADLK.
 * Return: 0 or a negative errno.
 * Errors: -ECANCELED the gate refused, or without a gate the hashes are not uniform: the reload is
 *   aborted and the current filter stays; -EDEADLK inside a read-side section; for a kind that is
 *   built once as weir_builder_finish(): the current filter stays too.
 * Threads: one, after all loader threads have finished.
 * Progress: blocking (a grace period, unless defer_free is set; the pace, while the gate counts). A
 *   refusal with another sentence than the last may always wait for a grace period, before
 *   weir_handle_measure() shows it.
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_commit(struct weir_reload *r);

/**
 * Give up the reload. The current filter stays and has missed no insert.
 * @r: is freed; NULL for nothing.
 * Return: 0.  Errors: none.  Threads: as weir_reload_commit().
 * Progress: blocking (a grace period), unless defer_free is set or the caller is in a section.
 */
WEIR_API int weir_reload_abort(struct weir_reload *r);

/** Offers the source to a reload, of one filter or of @shard. Return: 0; anything else stops. */
typedef int weir_reload_fill_fn(struct weir_reload *r, uint32_t shard, void *context);
/**
 * Replace the whole set: begin, @fill, commit; a sharded set shard by shard.
 * @options: as for weir_reload_begin(), but shard is ignored. NULL for the defaults.
 * @fill: called once, or once for each shard, with @context.
 * Return: 0 or the first failure. Then the shards before the failed one are new, that one and those
 *   after it are old, and you may call again.
 * Errors: as weir_reload_begin() and weir_reload_commit(); -EINVAL NULL; what @fill returned.
 * Threads, Progress: as weir_reload_begin(), and as @fill.
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_all(struct weir_handle *h,
                                             const struct weir_reload_options *options,
                                             weir_reload_fill_fn *fill, void *context);

/**
 * Publish the previous filter, kept by keep_previous, as the current one, and free the rejected
 * one. No insert is lost, since the previous filter has received them all.
 * Return: 0 or a negative errno, and nothing has changed.
 * Errors: -ENOENT none is kept, or it is void: it refused a key that the current one took (the
 *   sentence says so; handle.h, Full filters); -EBUSY, -EDEADLK as weir_reload_begin();
 *   -ENOTSUP the set is sharded; -ENOMEM.
 * Threads: as weir_reload_begin().  Progress: blocking (a grace period).
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_rollback(struct weir_handle *h);
/**
 * Free the previous filter, once the new one has proved itself.
 * Return, Errors, Threads, Progress: as weir_handle_rollback().
 */
WEIR_API WEIR_MUST_CHECK int weir_handle_drop_previous(struct weir_handle *h);

/* ---- one key: batches of one ---- */

/** As weir_reload_insert_keys(), of one key. */
static inline int weir_reload_insert(struct weir_reload *r, const void *key, size_t len)
{
	struct iovec one = { (void *)(uintptr_t)key, len };
	return (int)weir_reload_insert_keys(r, weir_keys_iov(&one, 1), NULL);
}
/** As weir_reload_insert(), of the eight bytes at &key. */
static inline int weir_reload_insert_u64(struct weir_reload *r, uint64_t key)
{
	return (int)weir_reload_insert_keys(r, weir_keys_u64(&key, 1), NULL);
}
/** As weir_reload_insert(), of a hash. */
static inline int weir_reload_insert_hash(struct weir_reload *r, uint64_t hash)
{
	return (int)weir_reload_insert_keys(r, weir_keys_hashes(&hash, 1), NULL);
}
/** As weir_reload_exclude_keys(), of one key. */
static inline WEIR_MUST_CHECK int weir_reload_exclude(struct weir_reload *r, const void *key,
                                                      size_t len)
{
	struct iovec one = { (void *)(uintptr_t)key, len };
	return weir_reload_exclude_keys(r, weir_keys_iov(&one, 1));
}
/** As weir_reload_exclude(), of the eight bytes at &key. */
static inline WEIR_MUST_CHECK int weir_reload_exclude_u64(struct weir_reload *r, uint64_t key)
{
	return weir_reload_exclude_keys(r, weir_keys_u64(&key, 1));
}
/** As weir_reload_exclude(), of a hash. */
static inline WEIR_MUST_CHECK int weir_reload_exclude_hash(struct weir_reload *r, uint64_t hash)
{
	return weir_reload_exclude_keys(r, weir_keys_hashes(&hash, 1));
}

WEIR_END_DECLS

#endif
