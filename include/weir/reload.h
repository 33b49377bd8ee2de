/* SPDX-License-Identifier: MIT
 * Replace a handle's filter under full load, or go back to the previous one.
 *
 *     weir_reload_begin       makes the next filter, or takes options.next; once it returns, every
 *                             insert goes to both
 *     weir_reload_insert*     the loader fills the next filter, from as many threads as it likes,
 *     weir_reload_copy        or copies the current filter's bits into it (copy-on-write)
 *     weir_reload_commit      asks the gate, then switches; or weir_reload_abort gives up
 *     weir_reload_all         all of it in one call, and of a sharded set each shard
 *
 * The loader reads its source after weir_reload_begin() has returned. A key inserted earlier must
 * come from that source or from the copy. At the peak there are two filters, or three while the
 * previous one is kept or a deferred free is due.
 *
 * Filters that can be full, and keys that are removed: handle.h says what a reload makes of both.
 *
 * fork(). The child's copy of an ordinary filter is its own. A handle of the flavor bp works in the
 * child: the library calls urcu_bp_before_fork(), urcu_bp_call_rcu_before_fork() and what belongs
 * after them, so fork() waits for grace periods. A program that has registered them itself by
 * pthread_atfork() is noticed by the signals that liburcu blocks. Nothing is called in a section,
 * in a thread that blocks all signals, or where weir is a plugin (RTLD_LOCAL) of a program that has
 * liburcu-bp itself: there call them before and after, or the child may hang. If such a program
 * has registered them and then loads weir with RTLD_GLOBAL, its fork() hangs. Of another flavor
 * call what liburcu says of it. A handle that a writer in another thread holds at the moment of
 * fork() stays -EBUSY in the child.
 *
 * Cancellation. A thread may be cancelled (pthread_cancel) at any time. The verbs that claim the
 * handle or wait for a grace period, weir_handle_destroy() and those of this header, refresh.h
 * and follow.h, hold the cancellation back until they return. So nothing stays claimed, and a
 * gate's check and a report run with cancellation disabled. But a reload that is open when its
 * loader ends stays open: abort it in a handler of pthread_cleanup_push().
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
 * What a filter must pass before it is published. It is asked last, after all that the loader,
 * weir_reload_copy() or carry (refresh.h) has put into the filter, and what was inserted through
 * the handle until then. Start from WEIR_GATE_INIT, which every filter passes. After a refusal the
 * current filter stays, and the sentence names the key or the figure. Every gate asks too whether
 * the hashes of the next filter are uniform, unless allow_uneven is set (of a kind that is built
 * once, the builder asks: build->allow_uneven). A commit without a gate asks that alone, unless the
 * filter was given as options.next. The look takes some 2 % of the time that a million keys take,
 * 0.4 % of 20 million, and up to 0.1 ms of 30,000.
 *
 * Of a shard of a set the canaries are those that lie in it, looked up as the set does it; the
 * others are left to their own shards. So an unwanted source may replace the shards before the
 * first one that has a canary. The figures are of the set with the new shard in it. max_fill,
 * max_fp_rate: a shard that breaks the limit itself is refused if the set would break it too.
 * min_keys: a shard is refused if it has far fewer keys than a shard of a set of min_keys keys, by
 * any chance, could have; or if the set would have fewer than min_keys, while the shard has fewer
 * than it had and than its share of min_keys, or is the last one of a round (all others were
 * replaced since it was). So a first load passes, and a source that is empty or cut short is
 * refused, mostly at once. For these figures a commit reads up to 64 MiB of the other shards and
 * 4 KiB of each, and before a refusal all of them. A check is refused in weir_reload_begin(): use
 * weir_reload_next() before the commit, by hashes that are rotated (weir_handle_get_shard()).
 */
struct weir_gate {
	size_t struct_size; /* sizeof(struct weir_gate) */
	/* your own check: 0 passes, anything else refuses; NULL: none */
	int (*check)(const struct weir_filter *next, void *context);
	void *context;                 /* for check */
	const struct iovec *must_hit;  /* keys that the set must have: a source that is empty or
	                                  cut short lacks them */
	size_t must_hits;              /* how many */
	const struct iovec *must_miss; /* keys that it must not have; by chance each refuses a good
	                                  filter with probability fp_rate */
	size_t must_misses;            /* how many */
	double max_fill;               /* share of bits set, 0 to 1; 0: any */
	double max_fp_rate;            /* of the bits as they are, not as asked; 0: any */
	double min_keys;               /* distinct keys, estimated from the bits; 0: any */
	bool allow_uneven;             /* take a filter whose hashes are not uniform (weir_stats has
	                                  hashes_uneven); else a gate refuses it */
};
#define WEIR_GATE_INIT WEIR__INIT(weir_gate)

/** Start from WEIR_RELOAD_OPTIONS_INIT. */
struct weir_reload_options {
	size_t struct_size;               /* sizeof(struct weir_reload_options) */
	const struct weir_params *params; /* of the next filter: another size, rate, kind or memory
	                                     (none that a filter of the handle still uses); NULL:
	                                     kind, size and shape of the current one, in private
	                                     memory, without flags. The seed stays, and the
	                                     secret, given once more or not; with
	                                     WEIR_HANDLE_ANY_SEED if none is given. */
	uint64_t max_bytes;               /* of bits, all filters together; 0: no limit. Of a
	                                     growing one those that it begins with: it grows on up
	                                     to its max_capacity */
	bool keep_previous;               /* for a rollback: the old filter gets every insert too;
	                                     what stood for the first filter is never kept */
	bool defer_free;                  /* the commit does not wait: call_rcu frees the filter */
	const struct weir_gate *gate;     /* copied; NULL: every filter passes whose hashes are
	                                     uniform, and any that is given as next */
	double pace;                      /* the share of a core that the loader may take, 0.001 to
	                                     1: see below; 0: it works as fast as it can */
	const struct weir_builder_options *build; /* of a kind that is built once; copied. NULL
	                                     for the defaults */
	struct weir_filter *next;         /* the next filter itself, loaded from an image, say, in
	                                     place of params and build: weir_reload_insert*() and
	                                     weir_reload_copy() complete it. Begin takes ownership;
	                                     if it fails, the filter is the caller's again, and may
	                                     have keys that were kept for the first filter */
	uint32_t shard;                   /* of a sharded set, which is to be replaced. Its size is
	                                     fixed, and so is its peak: params, next, max_bytes,
	                                     keep_previous and defer_free are refused. (An abort
	                                     inside a read-side section frees its shard after that
	                                     section, even if another replacement has begun.) */
};
#define WEIR_RELOAD_OPTIONS_INIT WEIR__INIT(weir_reload_options)

/*
 * Kinds that are built once (build.h): the same verbs, with these differences.
 *  - Such a filter may follow one that takes no inserts: one of such a kind, one that is mapped
 *    read-only, or what stands for the first set of a handle without keep_inserts. Any other
 *    handle refuses it (-ENOTSUP), since live inserts would be lost. Inserts through the handle
 *    answer what they did.
 *  - params.capacity may be 0: as many keys as come. Without params the next filter has kind, rate
 *    and hash of the current one, and as many keys as come.
 *  - weir_reload_insert*() collect, and answer 0 whether the key is new or not. A failure is for
 *    good: abort the reload. weir_reload_copy() answers -ENOTSUP.
 *  - weir_reload_commit() builds, then asks the gate, then publishes. What weir_builder_finish()
 *    fails with ends the reload, and counts as failed in weir_handle_measure(); where the options'
 *    progress stopped it, as weir_reload_abort().
 *  - Until then the next filter takes no memory, and the keys take 8 bytes each. weir_reload_next()
 *    returns NULL, and weir_reload_measure() counts what was added, with all that were equal;
 *    share is 0 with a capacity of 0.
 *  - A pace lets it build by one thread.
 *  - The shards of a set become as large as their keys need. Of a capacity that is not 0 a commit
 *    refuses a shard of more keys than its share and six standard deviations of random hashes.
 */

/*
 * A loader that must not be felt: pace. With 0.1 a loader thread sleeps 18 milliseconds after each
 * two of CPU time that it spends in the verbs of the reload. So the reload takes about ten times as
 * long, up to twenty where its caches are cold after each sleep, and what it takes of readers
 * spreads over that time. Its own reading of the source, between the verbs, is not counted.
 *  - weir_reload_begin() lets the system clear the pages of the next filter before it publishes it:
 *    no inserter has a page fault there. Memory of the caller's it clears at once.
 *  - weir_reload_insert*(), weir_reload_copy() and the gate's counting work in pieces and sleep
 *    between them, each loader thread for itself. What is left to sleep is slept by the next of
 *    these calls, at last by the commit. Calls for single keys are timed one in 256. With 1 nobody
 *    sleeps.
 *  - weir_reload_commit() reads what it has published once through, up to 32 MiB, so that the cache
 *    that cores share has it.
 *  - In a read-side section nobody sleeps: grace periods would wait. The next call outside does.
 *    With qsbr a verb that sleeps passes through a quiescent state, as weir_reload_commit() does.
 *  - A call does not end early, whether its thread is cancelled or its reload is no longer wanted:
 *    with 0.001, 1 Mi keys in one call take 20 seconds. Give a call some thousands, as many as you
 *    can wait for, and the reload can be aborted between two calls. Of a refresh, progress can stop
 *    the call (refresh.h).
 *  - Grace periods, the gate's canaries and its check, and the freeing of the old filter are as
 *    they are.
 * The bits are the same with and without.
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
 *   previous one or one that call_rcu has still to free, or pace or a limit of the gate is out of
 *   its range; before the first filter those of weir_insert(), of a key that was kept for it;
 *   -ENOTSUP the kind is built once, and the handle takes inserts. With options.next also -EINVAL
 *   params or build is given too, or it is one of the handle's filters, shares memory with one,
 *   hashes otherwise (not with WEIR_HANDLE_ANY_SEED), or its steps of normalisation are others (not
 *   with WEIR_HANDLE_ANY_STEPS); -EROFS it is mapped read-only, and the handle takes inserts;
 *   -EBUSY another handle owns it.
 *   -ENOTSUP the filter or its kind lacks an ability that the handle asks of each
 *   (weir_handle_options.can). Of a sharded set -EBUSY another shard is being replaced, and -EINVAL
 *   the shard, an option or the gate's check that is refused.
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
 *   it may sleep. Of a kind that is built once 0, and no bit of @bitmap is set.
 * Threads: any number of loader threads, with inserts and lookups through the handle. All of them
 *   must have finished before the commit.
 */
WEIR_API int64_t weir_reload_insert_keys(struct weir_reload *r, struct weir_keys keys,
                                         uint64_t *bitmap);

/**
 * Seal what was inserted, of a kind that is exact on an exclude list too (layered): its keys come
 * next. Without this the list is empty. The numbers of the current filter's shape hold for the next
 * one as well, or give them in the options.
 * @r: the reload.
 * Return: 0 or a negative errno; after a failure it can only be aborted.
 * Errors: -ENOTSUP the next filter's kind has no exclude list; as weir_builder_seal().
 * Threads: the loader; nobody else inserts meanwhile.  Order: none.  Progress: blocking.
 * Cost: as weir_builder_seal().
 * Source: as weir_builder_seal().
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_seal(struct weir_reload *r);
/**
 * Exclude a batch of keys, when the reload is sealed.
 * Return, Errors, Cost: as weir_builder_exclude_keys(). That a key is in both lists
 *   weir_reload_commit() answers with -EEXIST, as weir_builder_finish() does.
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_exclude_keys(struct weir_reload *r, struct weir_keys keys);

/**
 * Insert a batch into one set of the next router, otherwise as weir_reload_insert_keys().
 * @set: below weir_router_sets().
 * @bitmap: as for weir_insert_keys().
 * Return: as weir_insert_into_keys().
 * Errors: those of weir_reload_insert_keys(); -EINVAL there is no such set.
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
 * began before weir_reload_begin() returned. Of a kind that counts, a key that is inserted
 * meanwhile may count once too often in the next filter, and none too seldom.
 * @sets: a mask of the sets to merge: WEIR_ALL_SETS; or all but bit i, to clear set i of a router.
 * Return: 0 or a negative errno.
 * Errors: as weir_merge(), but then the next filter has a part of the current one: of a kind that
 *   removes keys abort the reload, since a second copy would count keys twice, and so would a copy
 *   after one that succeeded; -EINVAL the two differ in kind, size, shape, seed or secret. Before
 *   the first filter there is nothing to merge, and none of these.
 * Threads: as weir_reload_insert().  Progress: as weir_merge(); with a pace it may sleep, but not
 *   of cuckoo, whose inserts may have to wait for all of the copy (filter.h): it goes at once.
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
 * Return: the filter; NULL of a kind that is built once.
 * Errors: none.  Threads: as weir_reload_insert().  Progress: wait-free.  Cost: a load.
 */
WEIR_API const struct weir_filter *weir_reload_next(const struct weir_reload *r);

/**
 * Ask the gate, publish the next filter as the current one, wait for a grace period, and free the
 * old filter.
 * @r: is freed, unless the call returns -EDEADLK.
 * Return: 0 or a negative errno.
 * Errors: -ECANCELED the gate refused, or there is none and the hashes are not uniform: the reload
 *   is aborted and the current filter stays; -EDEADLK inside a read-side section; of a kind that is
 *   built once as weir_builder_finish(), likewise.
 * Threads: one, after all loader threads have finished.
 * Progress: blocking (a grace period, unless defer_free is set; a refusal with another sentence
 *   than the last may wait for one in any case, before weir_handle_measure() shows it; the pace,
 *   while the gate counts).
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
 * Replace the whole set: begin, @fill, commit; of a sharded set each shard, one after another.
 * @options: as for weir_reload_begin(), but shard is passed over. NULL for the defaults.
 * @fill: called once, or once for each shard, with @context.
 * Return: 0 or the first failure. Then the shards before it are new, that one and those after it
 *   are old, and you may call again.
 * Errors: as weir_reload_begin() and weir_reload_commit(); -EINVAL NULL; the answer of @fill.
 * Threads, Progress: as weir_reload_begin(), and as @fill.
 */
WEIR_API WEIR_MUST_CHECK int weir_reload_all(struct weir_handle *h,
                                             const struct weir_reload_options *options,
                                             weir_reload_fill_fn *fill, void *context);

/**
 * Publish the previous filter, kept by keep_previous, as the current one, and free the rejected
 * one. No insert is lost, since the previous filter has received them all.
 * Return: 0 or a negative errno, and nothing has changed.
 * Errors: -ENOENT none is kept, or it refused a key that the current one took, so that it is void
 *   (the sentence says which; handle.h, Full filters); -EBUSY, -EDEADLK as weir_reload_begin();
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
