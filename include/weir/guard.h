/* SPDX-License-Identifier: MIT
 * A guard puts a filter in front of an exact store and counts the answers. On live traffic it
 * measures how many store lookups the filter saves, and how often the filter is wrong.
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
 * clients ask for: mostly present keys, say, or the same few absent keys again and again.
 *
 * Bypass. If nearly every key is present, the filter stops nothing, and its lookups are lost time.
 * Set bypass_below to let each thread bypass the filter while the filter stops too small a share of
 * that thread's asks. One ask in 64, chosen at random, still goes to the filter. Once the filter
 * stops a larger share of these than resume_above, all asks go to the filter again. An ask that
 * bypasses the filter goes to the store, so no key is missed.
 *
 * Each thread counts in cache lines of its own, which no other thread writes. Insert and reload
 * through the handle as usual: the guard only looks up.
 */
#ifndef WEIR_GUARD_H
#define WEIR_GUARD_H

#include <weir/handle.h>

WEIR_BEGIN_DECLS

struct weir_guard;        /* opaque: the filter and its counters */
struct weir_guard_thread; /* opaque: the counters of one thread */

/** What to do with a key. */
enum weir_guard_answer {
	WEIR_GUARD_ABSENT = 0,   /* the key is absent: skip the store */
	WEIR_GUARD_MAYBE = 1,    /* the filter may have the key: ask the store */
	WEIR_GUARD_BYPASSED = 2, /* the filter was not asked: ask the store */
};

/** A lookup in a set of the caller's own. Return: false only if the key is certainly absent. All
 * threads that ask a guard call it, also at the same time. */
typedef bool weir_guard_contains_fn(const void *set, const void *key, size_t len);
/** A lookup by hash in a set of the caller's own. Return: false only if the key is certainly
 * absent. All threads that ask a guard call it, also at the same time. */
typedef bool weir_guard_contains_hash_fn(const void *set, uint64_t hash);

/** How to guard. Start from WEIR_GUARD_OPTIONS_INIT. Set one of handle, filter and contains. */
struct weir_guard_options {
	size_t struct_size;               /* sizeof(struct weir_guard_options) */
	const struct weir_handle *handle; /* looked up by weir_handle_contains() */
	const struct weir_filter *filter; /* of any kind, looked up by weir_contains() */
	weir_guard_contains_fn *contains; /* lookup of a set of the caller's own */
	const void *set;                  /* for contains and contains_hash */
	double bypass_below;  /* a thread bypasses the filter if the filter stops a smaller share of
	                         the thread's asks than this number, 0 to below 1. Set it to the
	                         cost of a filter lookup divided by the cost of the store's answer
	                         for an absent key. 0: never bypass the filter */
	double resume_above;  /* a thread ends its bypass if the filter stops more than this share.
	                         It must be above bypass_below and at most 1. 0: 1.25 *
	                         bypass_below, or (1 + bypass_below) / 2 if that is less */
	uint32_t window;      /* number of asks of the filter after which a thread decides whether
	                         to bypass it: 1,024 to 2^24; 0: 4,096. A thread that bypasses the
	                         filter decides after a sixteenth of that number */
	weir_guard_contains_hash_fn *contains_hash; /* lookup by hash in the set of contains, which
	                                               must be given too; NULL: refuse
	                                               asks by hash */
};
#define WEIR_GUARD_OPTIONS_INIT WEIR__INIT(weir_guard_options)

/**
 * Make a guard.
 * @out: receives the guard; untouched on failure.
 * @options: copied; the handle, the filter or the set must outlive the guard.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL if an argument is NULL, if not exactly one of handle, filter and contains is
 *   given, if contains_hash lacks contains, or if a share or window is out of range; -ENOMEM.
 * Threads: any.  Order: publish the guard with release order.  Progress: blocking (memory).
 * Cost: microseconds.
 */
WEIR_API WEIR_MUST_CHECK int weir_guard_create(struct weir_guard **out,
                                               const struct weir_guard_options *options);
/**
 * Free a guard.
 * @g: a guard; NULL is a no-op. Its handle, filter or set is not destroyed.
 * Return: 0 or a negative errno. After an error nothing has changed.
 * Errors: -EBUSY if threads have joined and not left; weir_error_detail() tells how many.
 * Threads: the last user.  Progress: blocking (memory).
 */
WEIR_API int weir_guard_destroy(struct weir_guard *g);

/**
 * Join the calling thread to a guard.
 * @out: receives an object for weir_guard_ask(); untouched on failure. Only one thread at a time
 *   may use it.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL if an argument is NULL; -ENOMEM.
 * Threads: any.  Progress: blocking (memory, and a lock that join, leave and measure share).
 * Cost: microseconds; 128 bytes.
 */
WEIR_API WEIR_MUST_CHECK int weir_guard_join(struct weir_guard_thread **out, struct weir_guard *g);
/**
 * Leave a guard. The guard's figures keep the thread's counts.
 * @t: from weir_guard_join(); the call frees it. NULL is a no-op.
 * Return: 0.  Errors: none.  Threads, Progress: as weir_guard_join().
 */
WEIR_API int weir_guard_leave(struct weir_guard_thread *t);

/**
 * Ask whether the store may have a key.
 * @t: from weir_guard_join().
 * Return: enum weir_guard_answer; without bypass_below never WEIR_GUARD_BYPASSED.
 * Errors: none.  Threads: only the thread that @t belongs to.
 * Order, Progress: as weir_handle_contains(), or as options.contains.
 * Cost: a lookup and 2 to 3 ns; if bypassed, 2 to 3 ns.
 */
WEIR_API WEIR_MUST_CHECK int weir_guard_ask(struct weir_guard_thread *t, const void *key,
                                            size_t len);
/** As weir_guard_ask(), for the eight bytes at &key: see weir_contains_u64(). */
WEIR_API WEIR_MUST_CHECK int weir_guard_ask_u64(struct weir_guard_thread *t, uint64_t key);
/**
 * As weir_guard_ask(), for a hash of weir_handle_hash() or of the caller's own function.
 * Return: enum weir_guard_answer, by weir_handle_contains_hash() or options.contains_hash; or a
 *   negative errno.
 * Errors: -ENOTSUP if options.contains is given without contains_hash; the ask is not counted.
 */
WEIR_API WEIR_MUST_CHECK int weir_guard_ask_hash(struct weir_guard_thread *t, uint64_t hash);
/**
 * As weir_guard_ask(), for a batch. Each key counts as an ask. A thread decides whether to bypass
 * the filter only at the end of a word of @bitmap, so the decision may come up to 63 asks late.
 * @bitmap: receives WEIR_BITMAP_WORDS(n) words. A bit is set if its key may be in the store: ask
 *   the store. Bits beyond n are 0.
 * @bypassed: receives WEIR_BITMAP_WORDS(n) words. A bit is set if its key's answer was
 *   WEIR_GUARD_BYPASSED; then the bit in @bitmap is set too. With NULL every key of this batch goes
 *   to the filter.
 * Return: how many bits of @bitmap are set, or a negative errno.
 * Errors: as weir_guard_ask_hash(); -EINVAL for a batch of form WEIR_KEYS_NONE.
 * Threads, Order, Progress: as weir_guard_ask().  Cost: as weir_handle_contains_keys(), and some
 *   10 ns a batch; if bypassed, below 1 ns a key. options.contains is called for each key.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_guard_ask_keys(struct weir_guard_thread *t,
                                                     struct weir_keys keys, uint64_t *bitmap,
                                                     uint64_t *bypassed);
/**
 * Report what the store answered. Call it once for each answer that led to the store. A thread may
 * ask for several keys before it reports them, in any order.
 * @answer: from weir_guard_ask(). WEIR_GUARD_ABSENT is ignored.
 * @found: whether the store had the key.
 * Errors: none.  Threads: as weir_guard_ask().  Progress: wait-free.  Cost: 1 to 2 ns.
 */
WEIR_API void weir_guard_saw(struct weir_guard_thread *t, int answer, bool found);
/**
 * As weir_guard_saw(), for a batch: what the store answered for each key whose bit of @bitmap is
 * set. To report a batch in several parts, clear the bits of all other keys in each call.
 * @bitmap, @bypassed: from weir_guard_ask_keys(). @bypassed may be NULL if that call had NULL.
 * @found: a bit is set if the store had its key; bits of keys that are 0 in @bitmap are ignored.
 * @n: number of keys in the batch.
 * Errors: none.  Threads: as weir_guard_ask().  Progress: wait-free.  Cost: 2 to 3 ns a word.
 */
WEIR_API void weir_guard_saw_keys(struct weir_guard_thread *t, const uint64_t *bitmap,
                                  const uint64_t *bypassed, const uint64_t *found, size_t n);

/** The figures of a guard, over all threads since it was made. Start from WEIR_GUARD_STATS_INIT. */
struct weir_guard_stats {
	size_t struct_size;      /* sizeof(struct weir_guard_stats) */
	uint64_t asked;          /* keys in calls of weir_guard_ask() and its forms */
	uint64_t stopped;        /* keys answered WEIR_GUARD_ABSENT: true negatives */
	uint64_t true_positives; /* keys that the filter let pass and the store had */
	uint64_t false_positives; /* keys that the filter let pass and the store did not have */
	uint64_t bypassed;       /* keys that did not go to the filter */
	uint64_t bypassed_absent; /* bypassed keys that the store did not have */
	uint64_t unreported;     /* keys sent to the store and not yet reported by
	                            weir_guard_saw() */
	uint64_t switches;       /* number of times that a thread started or stopped bypassing */
	uint32_t threads;        /* threads that have joined and not left */
	uint32_t bypassing;      /* threads that bypass the filter now */
	double fp_rate;          /* false_positives / (false_positives + stopped); 0 for 0 / 0 */
	double saved;            /* stopped / asked: share of store lookups saved; 0 for 0 / 0 */
};
#define WEIR_GUARD_STATS_INIT WEIR__INIT(weir_guard_stats)
/**
 * Measure a guard.
 * @out: from WEIR_GUARD_STATS_INIT.
 * Return: 0 or a negative errno.  Errors: -EINVAL if an argument is NULL or struct_size is wrong.
 * Threads: any, while others ask. The call reads the counters one by one while threads change them,
 *   so two counters may be of different moments.
 * Progress: blocking (the lock of weir_guard_join()).  Cost: some 10 ns a thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_guard_measure(struct weir_guard *g, struct weir_guard_stats *out);

WEIR_END_DECLS

#endif
