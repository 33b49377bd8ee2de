/* SPDX-License-Identifier: MIT
 * A guard puts a filter in front of an exact store and counts. On live traffic it measures how much
 * the filter saves the store, how often it is wrong, and whether it is worth its lookups.
 *
 *     struct weir_guard_options options = WEIR_GUARD_OPTIONS_INIT;
 *     options.handle = set;
 *     weir_guard_create(&guard, &options);
 *     weir_guard_join(&thread, guard);                  once in each thread
 *     answer = weir_guard_ask(thread, key, len);        for each key, before the store
 *     if (answer != WEIR_GUARD_ABSENT) {
 *             found = your store's lookup;
 *             weir_guard_saw(thread, answer, found);
 *     }
 *     weir_guard_leave(thread);                         then weir_guard_destroy(guard)
 *
 * weir_guard_measure() reports the figures. Unlike a test with random absent keys, they show what
 * clients ask for: mostly present keys, say, or the same few absent ones again and again.
 *
 * Bypass. If nearly every key is there, the filter stops nothing, and its lookups are lost time.
 * With bypass_below each thread leaves the filter out while it stops too small a share of that
 * thread's asks. One ask in 64, chosen at random, still goes to the filter, and when the share is
 * above resume_above all do again. An ask that leaves the filter out goes to the store, so no key
 * is missed.
 *
 * Each thread counts in cache lines of its own, which no other thread writes. Insert and reload
 * through the handle as usual: the guard takes no part in that.
 */
#ifndef WEIR_GUARD_H
#define WEIR_GUARD_H

#include <weir/handle.h>

WEIR_BEGIN_DECLS

struct weir_guard;        /* opaque: the filter and its counters */
struct weir_guard_thread; /* opaque: one thread's part of them */

/** What to do with a key. */
enum weir_guard_answer {
	WEIR_GUARD_ABSENT = 0,   /* the key is absent: skip the store */
	WEIR_GUARD_MAYBE = 1,    /* the filter does not rule it out: ask the store */
	WEIR_GUARD_BYPASSED = 2, /* the filter was not asked: ask the store */
};

/** A lookup in a set of the caller's own: false only if the key is certainly absent. All threads
 * that ask call it, at the same time. */
typedef bool weir_guard_contains_fn(const void *set, const void *key, size_t len);
/** The same lookup, of a hash. */
typedef bool weir_guard_contains_hash_fn(const void *set, uint64_t hash);

/** How to guard. Start from WEIR_GUARD_OPTIONS_INIT. Set one of handle, filter and contains. */
struct weir_guard_options {
	size_t struct_size;               /* sizeof(struct weir_guard_options) */
	const struct weir_handle *handle; /* asked by weir_handle_contains() */
	const struct weir_filter *filter; /* or asked by weir_contains(): of any kind */
	weir_guard_contains_fn *contains; /* or asked by this: any other set */
	const void *set;                  /* for contains and contains_hash */
	double bypass_below;  /* the least share of asks that the filter must stop, 0 to below 1:
	                         the cost of a lookup, divided by the cost of the store's answer
	                         for an absent key. 0: always ask the filter */
	double resume_above;  /* above bypass_below, to 1; 0: a quarter more than bypass_below, or
	                         half way to 1 if that is less */
	uint32_t window;      /* asks of the filter between two decisions of a thread, a sixteenth
	                         of them while bypassed: 1,024 to 2^24; 0: 4,096 */
	weir_guard_contains_hash_fn *contains_hash; /* with contains, for asks by hash; NULL:
	                                               refuse those */
};
#define WEIR_GUARD_OPTIONS_INIT WEIR__INIT(weir_guard_options)

/**
 * Make a guard.
 * @out: receives the guard; untouched on failure.
 * @options: copied; the handle, the filter or the set must outlive the guard.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL NULL, none or several of handle, filter and contains, contains_hash without
 *   contains, a share or the window out of its range; -ENOMEM.
 * Threads: any.  Order: publish the guard with release order.  Progress: blocking (memory).
 * Cost: microseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_guard_create(struct weir_guard **out,
                                               const struct weir_guard_options *options);
/**
 * Free a guard.
 * @g: NULL for nothing. Its handle, filter or set stays.
 * Return: 0 or a negative errno, and nothing has changed.
 * Errors: -EBUSY threads have joined and not left: the sentence says how many.
 * Threads: the last user.  Progress: blocking (memory).
 */
WEIR_API int weir_guard_destroy(struct weir_guard *g);

/**
 * Join the calling thread to a guard.
 * @out: receives the thread's part of the guard; untouched on failure. Only one thread at a time
 *   may use it.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL NULL; -ENOMEM.
 * Threads: any.  Progress: blocking (memory, a lock that join, leave and measure share).
 * Cost: microseconds; 128 bytes.
 */
WEIR_API WEIR_MUST_CHECK int weir_guard_join(struct weir_guard_thread **out, struct weir_guard *g);
/**
 * Leave the guard. The thread's counts stay in the guard's figures.
 * @t: is freed; NULL for nothing.
 * Return: 0.  Errors: none.  Threads, Progress: as weir_guard_join().
 */
WEIR_API int weir_guard_leave(struct weir_guard_thread *t);

/**
 * Ask whether the store may have a key.
 * @t: from weir_guard_join().
 * Return: enum weir_guard_answer; without bypass_below never WEIR_GUARD_BYPASSED.
 * Errors: none.  Threads: the one that @t belongs to.
 * Order, Progress: as weir_handle_contains(), or those of contains.
 * Cost: a lookup and 2 to 3 ns; bypassed 2 to 3 ns.
 */
WEIR_API WEIR_MUST_CHECK int weir_guard_ask(struct weir_guard_thread *t, const void *key,
                                            size_t len);
/** As weir_guard_ask(), of the eight bytes at &key: see weir_contains_u64(). */
WEIR_API WEIR_MUST_CHECK int weir_guard_ask_u64(struct weir_guard_thread *t, uint64_t key);
/**
 * As weir_guard_ask(), of a hash: by weir_handle_hash() or the caller's own function.
 * Return: as weir_guard_ask(), by weir_handle_contains_hash() or options.contains_hash; or a
 *   negative errno.
 * Errors: -ENOTSUP options.contains is given without contains_hash: the ask does not count.
 */
WEIR_API WEIR_MUST_CHECK int weir_guard_ask_hash(struct weir_guard_thread *t, uint64_t hash);
/**
 * As weir_guard_ask(), of a batch; each key counts as an ask. A thread decides whether to leave the
 * filter out only at the end of a word of @bitmap, so up to 63 asks late.
 * @bitmap: receives WEIR_BITMAP_WORDS(n) words; a bit is set if the store is to be asked for its
 *   key. Bits beyond n are 0.
 * @bypassed: receives as many words; a bit is set if its key's answer was WEIR_GUARD_BYPASSED, and
 *   then its bit of @bitmap is set too. NULL: the filter is asked for every key of this batch.
 * Return: how many bits of @bitmap are set, or a negative errno.
 * Errors: as weir_guard_ask_hash().
 * Threads, Order, Progress: as weir_guard_ask().  Cost: as weir_handle_contains_keys(), and some
 *   10 ns a batch; while bypassed below 1 ns a key. A set of the caller's own is asked key by key.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_guard_ask_keys(struct weir_guard_thread *t,
                                                     struct weir_keys keys, uint64_t *bitmap,
                                                     uint64_t *bypassed);
/**
 * Report what the store answered, once for each answer that led to the store. Several asks may be
 * open at the same time, and be reported in any order.
 * @answer: from weir_guard_ask(). WEIR_GUARD_ABSENT counts for nothing.
 * @found: was the key there?
 * Errors: none.  Threads: as weir_guard_ask().  Progress: wait-free.  Cost: 1 to 2 ns.
 */
WEIR_API void weir_guard_saw(struct weir_guard_thread *t, int answer, bool found);
/**
 * As weir_guard_saw(), of a batch: what the store answered for each key whose bit of @bitmap is
 * set. If the caller asks the store for a part of them at a time, it reports that part with the
 * bits of the others cleared.
 * @bitmap, @bypassed: from weir_guard_ask_keys(); @bypassed NULL: none was bypassed.
 * @found: a bit is set if the store had its key; a key whose bit of @bitmap is 0 does not count.
 * @n: the keys of the batch.
 * Errors: none.  Threads: as weir_guard_ask().  Progress: wait-free.  Cost: 2 to 3 ns a word.
 */
WEIR_API void weir_guard_saw_keys(struct weir_guard_thread *t, const uint64_t *bitmap,
                                  const uint64_t *bypassed, const uint64_t *found, size_t n);

/** The figures of a guard, of all threads since it was made. Start from WEIR_GUARD_STATS_INIT. */
struct weir_guard_stats {
	size_t struct_size;      /* sizeof(struct weir_guard_stats) */
	uint64_t asked;          /* keys that weir_guard_ask() and its forms were called for */
	uint64_t stopped;        /* answered WEIR_GUARD_ABSENT: true negatives */
	uint64_t true_positives; /* the filter let them pass, and the store had them */
	uint64_t false_positives; /* it let them pass, and the store did not have them */
	uint64_t bypassed;       /* the filter was not asked */
	uint64_t bypassed_absent; /* bypassed, and the store did not have them */
	uint64_t unreported;     /* the store was to be asked: no weir_guard_saw() yet */
	uint64_t switches;       /* of a thread, to bypass or back */
	uint32_t threads;        /* that have joined and not left */
	uint32_t bypassing;      /* of those, the ones that leave the filter out now */
	double fp_rate;          /* false_positives / (false_positives + stopped); 0 without any */
	double saved;            /* stopped / asked: what the store was spared; 0 without any */
};
#define WEIR_GUARD_STATS_INIT WEIR__INIT(weir_guard_stats)
/**
 * Measure a guard.
 * @out: from WEIR_GUARD_STATS_INIT.
 * Return: 0 or a negative errno.  Errors: -EINVAL NULL, struct_size.
 * Threads: any, while others ask: each counter is as its thread had it a moment ago, and two of
 *   them may be of different moments.
 * Progress: blocking (the lock of weir_guard_join()).  Cost: some 10 ns a thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_guard_measure(struct weir_guard *g, struct weir_guard_stats *out);

WEIR_END_DECLS

#endif
