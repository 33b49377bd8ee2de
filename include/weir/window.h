/* SPDX-License-Identifier: MIT
 * A window remembers the keys of the last T seconds, or of the last N inserts, and forgets older
 * ones: for replay protection, duplicates in a stream, "was this client here in the last hour". It
 * is a filter of kind WEIR_WINDOW: weir_insert() remembers a key from now on, and weir_contains()
 * tells whether it was seen lately. weir_params.window (params.h) has its numbers.
 *
 *     struct weir_params params = WEIR_PARAMS_INIT;
 *     params.kind = WEIR_WINDOW, params.capacity = 1000000, params.fp_rate = 0.0001;
 *     params.window.span_seconds = 300, params.window.run.timer = true;
 *     err = weir_create(&f, &params);
 *     if (weir_insert(f, nonce, len) == WEIR_NEW) ...     not seen in the last 300 seconds
 *
 * Generations. A window has generations 0, the newest, to G-1. Inserts go to the newest, lookups
 * look in all of them. Each generation is the newest for T/(G-1) seconds, or until it has taken
 * window.generation_keys keys. Then an advance is due: an empty generation becomes the newest, and
 * the oldest is dropped. A window advances only if window.run.timer is true, which starts a thread
 * of the window's own, or if the caller calls weir_window_tick(), ten times as often as an advance
 * is due. Without either it never forgets. If it advances by time alone, a key is remembered for at
 * least T after its insert began, and for at most T * G/(G-1) plus the time by which advances come
 * late. A late advance is never caught up: the next one comes a full T/(G-1) after it.
 *
 * WEIR_NEW means that no generation has the key. An insert of a key that an older generation has
 * returns WEIR_SEEN, and puts it into the newest too. If threads race to insert a new key, with
 * words_per_key 1 at most one gets WEIR_NEW: exactly one if no advance comes in between, else one
 * or none, as if the others had come first. With more words at least one does.
 *
 * Threads. All verbs may run at the same time, except weir_destroy(). Lookups and inserts are
 * wait-free and allocate nothing. An insert runs in a read-side section of liburcu for the time of
 * the call, a lookup only if an advance comes during it. An advance publishes one number. Then it
 * waits until every section that began before has ended, and clears the dropped generation. So a
 * stalled section delays the next advance, and never loses a key.
 *
 * Two layouts. WEIR_WINDOW_COLUMNS: a key has one word of each generation, side by side in one
 * cache line of up to 7 generations, so that a lookup touches one line. WEIR_WINDOW_RING: each
 * generation is an array of its own, with one line a generation to touch; it takes words_per_key
 * above 1, which needs less memory. Both hold one generation more than they show: the one that is
 * being cleared, which plans and statistics count in their bytes.
 *
 * Images. A window cannot be merged, cloned, folded, mapped or published by a handle, and does not
 * normalise keys. It outlives its process as an image: weir_save() at any time, weir_load() at the
 * next start. A save copies all generations in one read-side section, so only the clearing of the
 * next advance waits for it; with qsbr a thread may call it offline, and is online for the copy
 * alone. It takes memory for that copy and refuses marks. Between save and load the window's time
 * stands still: a key is remembered for span_seconds at least, less the time that had passed until
 * the save. run.forget_older of struct weir_load_options makes the advances that would have come
 * since then, at their times; weir_load() returns -EINVAL if the window advances by number alone.
 * If the machine's clock was set back in between, no time has passed.
 *
 * weir_create() may also fail with the errnos of eventfd() and pthread_create(). weir_destroy()
 * ends the timer's thread, if there is one; call it outside of read-side sections. A child of
 * fork() does not have that thread, and weir_destroy() only frees the memory. A child of a fork()
 * during an advance cannot advance its copy (-EBUSY), so create the window after becoming a daemon.
 */
#ifndef WEIR_WINDOW_H
#define WEIR_WINDOW_H

#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/filter.h>
#include <weir/image.h>

WEIR_BEGIN_DECLS

enum {
	WEIR_WINDOW_LEAST = 2, /* generations of a window */
	WEIR_WINDOW_MOST = 16,
};

/**
 * Find the newest generation that may have a key.
 * @f: of any kind. A filter of another kind has one generation.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: its number, 0 for the newest of all; -1 if the key was not seen.
 * Errors: none.  Threads, Order: as weir_contains().
 * Progress: wait-free.  Cost: as weir_contains(), and for a window a read-side section.
 */
WEIR_API int weir_age(const struct weir_filter *f, const void *key, size_t len);
/** As weir_age(), of the eight bytes at &key. */
WEIR_API int weir_age_u64(const struct weir_filter *f, uint64_t key);
/** As weir_age(), of a hash. */
WEIR_API int weir_age_hash(const struct weir_filter *f, uint64_t hash);
/**
 * As weir_age(), of a batch.
 * @ages: receives the answer of weir_age() for each key. If the batch has no form, all are 0, as
 *   lookups then answer true.
 * Return: how many keys were seen.
 */
WEIR_API int64_t weir_age_keys(const struct weir_filter *f, struct weir_keys keys, int *ages);

/**
 * Advance now, whether that is due or not. An advance before its time shortens what is remembered.
 * Return: 0 or a negative errno.
 * Errors: -EDEADLK inside a read-side section of the window's flavor: it would wait for its own
 *   caller; -EBUSY an advance is under way; -ENOTSUP the filter is of another kind.
 * Threads: any, with all verbs.  Progress: blocking (a grace period).
 * Cost: others see it at once. The caller waits for a grace period and clears a generation: that
 *   of a ring is contiguous, that of columns is one word in each line of the whole window.
 */
WEIR_API WEIR_MUST_CHECK int weir_window_advance(struct weir_filter *f);

/**
 * Advance if that is due, by time or by number: for a window without a timer. It advances once,
 * however late it is: the next advance is a full span_seconds/(G-1) after this one. So call it ten
 * times as often as that: a call that comes a microsecond too early leaves the advance to the next
 * call. If calls are a whole period apart, each second one may come too early; keys then stay and
 * pile up for twice as long.
 * Return: 1 it advanced; 0 it was not due, or another thread is advancing it; or a negative errno.
 * Errors: -EDEADLK, -ENOTSUP as weir_window_advance().
 * Threads: any, with all verbs.  Progress: wait-free if it returns 0, else blocking.
 * Cost: reading the clock; as weir_window_advance() if it returns 1.
 */
WEIR_API WEIR_MUST_CHECK int weir_window_tick(struct weir_filter *f);

/** The figures of each generation, beside those of weir_measure(). Start from
 * WEIR_WINDOW_STATS_INIT. Times are of the window's clock. */
struct weir_window_stats {
	size_t struct_size;
	uint32_t generations;       /* that lookups look in */
	uint32_t reserved;
	double span_seconds;        /* as asked; 0: no advance by time */
	uint64_t generation_keys;   /* as asked; 0: no advance by number */
	uint64_t advances;          /* since creation; after a load, those of its image, G-1 at
	                               most, and those since */
	double due_seconds;         /* until the next advance by time; negative: it is late;
	                               infinite: it does not advance by time */
	double late_seconds;        /* the most by which an advance came late */
	uint64_t keys_counted;      /* towards generation_keys, in the newest generation */
	uint64_t saved_ns;          /* nanoseconds since 1970: when its image was saved; 0: it was
	                               created, not loaded */
	double age_seconds[WEIR_WINDOW_MOST]; /* since generation i became the newest; 0: never */
	double fill[WEIR_WINDOW_MOST];        /* share of its bits that are set */
};

#define WEIR_WINDOW_STATS_INIT WEIR__INIT(weir_window_stats)

/**
 * Measure each generation of a window, from the bits of 16384 lines at even distances or of all.
 * @effort: enum weir_effort.
 * @out: from WEIR_WINDOW_STATS_INIT.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL @effort, struct_size; -ENOTSUP the filter is of another kind.
 * Threads: any, with all verbs. A figure that changes during the call is that of some moment.
 * Progress: wait-free.  Cost: below a millisecond in cache, a few beyond; with WEIR_EXACT memory
 *   bandwidth.
 */
WEIR_API WEIR_MUST_CHECK int weir_window_measure(const struct weir_filter *f, uint32_t effort,
                                                 struct weir_window_stats *out);

WEIR_END_DECLS

#endif
