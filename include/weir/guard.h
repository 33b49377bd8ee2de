/* SPDX-License-Identifier: MIT
 * A filter before an exact store, of any kind: what it saves the store, how often it is wrong on
 * the traffic that there is, and whether it is worth its lookups.
 *
 *     answer = weir_guard_ask(thread, key, len);
 *     if (answer != WEIR_GUARD_ABSENT) {
 *             found = your store's lookup;
 *             weir_guard_saw(thread, answer, found);
 *     }
 *
 * A filter of random absent keys is measured in a test; here it is measured on the keys that are
 * asked for, which may be mostly present, or the same few absent ones again and again.
 *
 * Where nearly every key is there the filter stops nothing, and its lookups are lost time. With
 * bypass_below each thread leaves it out while it stops too small a share of that thread's asks:
 * then one ask in 64, chosen at random, still goes to the filter, and when the share is above
 * resume_above all do again. An ask that leaves the filter out goes to the store, so no key is
 * missed.
 *
 * Each thread counts in a line of its own, which no other thread writes. Inserts and reloads are
 * not the guard's concern: the handle's verbs stay as they are.
 */
#ifndef WEIR_GUARD_H
#define WEIR_GUARD_H

#include <weir/handle.h>

WEIR_BEGIN_DECLS

struct weir_guard;        /* opaque: the filter and what is counted */
struct weir_guard_thread; /* opaque: one thread's part of it */

/** What to do with a key. */
enum weir_guard_answer {
	WEIR_GUARD_ABSENT = 0,   /* it is not there: leave the store alone */
	WEIR_GUARD_MAYBE = 1,    /* the filter does not rule it out: ask the store */
	WEIR_GUARD_BYPASSED = 2, /* the filter was not asked: ask the store */
};

/** A lookup in a set of the caller's own: false only if the key is certainly not there. Called by
 * every thread that asks, at the same time. */
typedef bool weir_guard_contains_fn(const void *set, const void *key, size_t len);
/** The same, of a hash. */
typedef bool weir_guard_contains_hash_fn(const void *set, uint64_t hash);

/** Start from WEIR_GUARD_OPTIONS_INIT. Give one of handle, filter and contains. */
struct weir_guard_options {
	size_t struct_size;               /* sizeof(struct weir_guard_options) */
	const struct weir_handle *handle; /* asked by weir_handle_contains() */
	const struct weir_filter *filter; /* or asked by weir_contains(): of any kind */
	weir_guard_contains_fn *contains; /* or this is called: a set that is neither */
	const void *set;                  /* for contains */
	double bypass_below;  /* the least share of asks that the filter must stop, 0 to below 1:
	                         what a lookup costs, divided by what the store's answer for an
	                         absent key costs. 0: it is always asked */
	double resume_above;  /* above bypass_below, to 1; 0: a quarter more than bypass_below, or
	                         half way to 1 if that is less */
	uint32_t window;      /* a thread decides after so many asks of the filter, while bypassed
	                         after a sixteenth of them: 1,024 to 2^24; 0: 4,096 */
	weir_guard_contains_hash_fn *contains_hash; /* beside contains, for asks of hashes; NULL:
	                                               there are none */
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
 * Threads: nobody else may use it.  Progress: blocking (memory).
 */
WEIR_API int weir_guard_destroy(struct weir_guard *g);

/**
 * Begin to ask in the calling thread.
 * @out: receives what this thread asks by; untouched on failure. No other thread may ask by it at
 *   the same time.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL NULL; -ENOMEM.
 * Threads: any.  Progress: blocking (memory, a lock among those that join, leave and report).
 * Cost: microseconds; 128 bytes.
 */
WEIR_API WEIR_MUST_CHECK int weir_guard_join(struct weir_guard_thread **out, struct weir_guard *g);
/**
 * End it. What the thread has counted stays in the guard's figures.
 * @t: is freed; NULL for nothing.
 * Return: 0.  Errors: none.  Threads, Progress: as weir_guard_join().
 */
WEIR_API int weir_guard_leave(struct weir_guard_thread *t);

/**
 * May the key be in the store?
 * @t: of weir_guard_join().
 * Return: enum weir_guard_answer; without bypass_below never WEIR_GUARD_BYPASSED.
 * Errors: none.  Threads: the one that @t belongs to.  Order, Progress: as
 *   weir_handle_contains(), or those of contains.  Cost: that of the lookup and 2 to 3 ns; bypassed
 *   2 to 3 ns.
 */
WEIR_API WEIR_MUST_CHECK int weir_guard_ask(struct weir_guard_thread *t, const void *key,
                                            size_t len);
/** As weir_guard_ask(), of the eight bytes at &key: see weir_contains_u64(). */
WEIR_API WEIR_MUST_CHECK int weir_guard_ask_u64(struct weir_guard_thread *t, uint64_t key);
/**
 * As weir_guard_ask(), of a hash: by weir_handle_hash() or the caller's own function.
 * Return: as weir_guard_ask(), of weir_handle_contains_hash() or options.contains_hash; or a
 *   negative errno.
 * Errors: -ENOTSUP options.contains is given without contains_hash: nothing is counted.
 */
WEIR_API WEIR_MUST_CHECK int weir_guard_ask_hash(struct weir_guard_thread *t, uint64_t hash);
/**
 * As weir_guard_ask(), of a batch; each key counts as an ask. Whether to leave the filter out
 * is decided anew at the end of a word of @bitmap, so up to 63 asks late.
 * @bitmap: receives WEIR_BITMAP_WORDS(n) words; a bit is set if the store is to be asked for its
 *   key. Bits beyond n are 0.
 * @bypassed: likewise; a bit is set if its key's answer was WEIR_GUARD_BYPASSED, as its bit of
 *   @bitmap then is. NULL: the filter is asked for every key of this batch.
 * Return: how many bits of @bitmap are set, or a negative errno.
 * Errors: as weir_guard_ask_hash().
 * Threads, Order, Progress: as weir_guard_ask().  Cost: as weir_handle_contains_keys(), and some
 *   10 ns a batch; while bypassed below 1 ns a key. A set that is no handle is asked key by key.
 */
WEIR_API WEIR_MUST_CHECK int64_t weir_guard_ask_keys(struct weir_guard_thread *t,
                                                     struct weir_keys keys, uint64_t *bitmap,
                                                     uint64_t *bypassed);
/**
 * Report what the store answered, once for each ask that it was asked after. Several asks may be
 * open at the same time, and be reported in any order.
 * @answer: of weir_guard_ask(). For WEIR_GUARD_ABSENT nothing is counted.
 * @found: was the key there?
 * Errors: none.  Threads: as weir_guard_ask().  Progress: wait-free.  Cost: 1 to 2 ns.
 */
WEIR_API void weir_guard_saw(struct weir_guard_thread *t, int answer, bool found);
/**
 * As weir_guard_saw(), of a batch: what the store answered for each key whose bit of @bitmap is
 * set. Who asks the store for a part of them at a time reports that part: with the bits of the
 * others cleared.
 * @bitmap, @bypassed: of weir_guard_ask_keys(); @bypassed NULL: none was.
 * @found: a bit is set if the store had its key; what is not set in @bitmap counts for nothing.
 * @n: the keys of the batch.
 * Errors: none.  Threads: as weir_guard_ask().  Progress: wait-free.  Cost: 2 to 3 ns a word.
 */
WEIR_API void weir_guard_saw_keys(struct weir_guard_thread *t, const uint64_t *bitmap,
                                  const uint64_t *bypassed, const uint64_t *found, size_t n);

/** A guard's figures since it was made, of all threads. Start from WEIR_GUARD_STATS_INIT. */
struct weir_guard_stats {
	size_t struct_size;      /* sizeof(struct weir_guard_stats) */
	uint64_t asked;          /* keys that weir_guard_ask() and its forms were called for */
	uint64_t stopped;        /* answered WEIR_GUARD_ABSENT: true negatives */
	uint64_t true_positives; /* the filter let them pass, and the store had them */
	uint64_t false_positives; /* it let them pass, and the store had them not */
	uint64_t bypassed;       /* the filter was not asked */
	uint64_t bypassed_absent; /* of those, the store had them not */
	uint64_t unreported;     /* the store was to be asked: no weir_guard_saw() yet */
	uint64_t switches;       /* of a thread, to bypass or back */
	uint32_t threads;        /* that have joined and not left */
	uint32_t bypassing;      /* of those, leave the filter out now */
	double fp_rate;          /* false_positives / (false_positives + stopped); 0 without any */
	double saved;            /* stopped / asked: what the store was saved; 0 without any */
};
#define WEIR_GUARD_STATS_INIT WEIR__INIT(weir_guard_stats)
/**
 * The figures now.
 * @out: from WEIR_GUARD_STATS_INIT.
 * Return: 0 or a negative errno.  Errors: -EINVAL NULL, struct_size.
 * Threads: any, beside those that ask: each counter is one that the thread had a moment ago, and
 *   two of them may be of different moments.
 * Progress: blocking (the lock of weir_guard_join()).  Cost: some 10 ns a thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_guard_measure(struct weir_guard *g, struct weir_guard_stats *out);

WEIR_END_DECLS

#endif
