/* SPDX-License-Identifier: MIT
 * What was seen lately: a window over the last T seconds, or the last N inserts. It is for replay
 * protection, for duplicates in a stream, for "was this client here in the last hour". A window is
 * a filter of kind WEIR_WINDOW: weir_insert() remembers a key from now on, and weir_contains()
 * tells whether it was seen lately. Its numbers are in weir_params.window (params.h).
 *
 * A window has generations 0, the newest, to G-1. Inserts go to the newest, lookups look in all of
 * them. Each generation is the newest for T/(G-1) seconds. Then an advance is due: an empty
 * generation becomes the newest, and the oldest is dropped. A window advances only if
 * weir_params.window.run.timer is true, which starts a thread of the window's own, or if the
 * caller calls weir_window_tick(), ten times as often as an advance is due. Without either it never
 * forgets. So a key is remembered for at least T after its insert began, and for at most
 * T * G/(G-1) plus the time by which advances come late. A late advance is never caught up: the
 * next one comes a full T/(G-1) after it.
 *
 * WEIR_NEW means that the key is in no generation. An older generation's key is answered WEIR_SEEN,
 * and is in the newest from now on. With words_per_key 1 at most one of racing inserts of a new key
 * is answered WEIR_NEW: exactly one if no advance comes in between, else one or none, as if the
 * others had come first. With more words at least one is.
 *
 * Who may call what with whom: all verbs at the same time, except weir_destroy(). Lookups and
 * inserts are wait-free and allocate nothing. An insert runs in a read-side section of liburcu for
 * the time of the call, a lookup only if an advance comes meanwhile. An advance publishes one
 * number. Then it waits until every section that began before has ended, and clears what was
 * dropped. So a stalled section delays the next advance, and never loses a key.
 *
 * Two layouts. WEIR_WINDOW_COLUMNS: a key has one word of each generation, side by side in one
 * cache line of up to 7 generations, so that a lookup touches one line. WEIR_WINDOW_RING: each
 * generation is an array of its own, with one line a generation to touch; it takes words_per_key
 * above 1, which needs less memory. Both hold one generation more than they show: the one that is
 * being cleared, which plans and statistics count in their bytes.
 *
 * A window cannot be merged, cloned, folded, mapped or published by a handle, and nothing is done
 * to its keys. It outlives its process as an image: weir_save() beside all else, weir_load() at the
 * next start. A save copies all generations in one read-side section, so only the clearing of the
 * next advance waits for it; with qsbr a thread may call it offline, and is online for the copy
 * alone. It takes memory for that copy and refuses marks. Between save and load the window's time
 * stands still: its keys are remembered for span_seconds at least, less what of it had passed at
 * the save. With run.forget_older of struct weir_load_options the advances that would have come
 * since have come, at their times; -EINVAL if the window advances by number alone. If the machine's
 * clock was set back meanwhile, no time has passed.
 *
 * weir_create() may also fail with the errnos of eventfd() and pthread_create(). weir_destroy()
 * ends the timer's thread, if there is one; the caller is in no read-side section. In a child of
 * fork() that thread does not exist, and only the memory is freed. A child of a fork() during an
 * advance cannot advance its copy (-EBUSY), so create the window after becoming a daemon.
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
	WEIR_WINDOW_LEAST = 2, /* generations */
	WEIR_WINDOW_MOST = 16,
};

/**
 * Find the newest generation that may have a key.
 * @f: of any kind. A filter that is no window has one generation.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: its number, 0 for the newest of all; -1 if the key was not seen.
 * Errors: none.  Threads, Order: as weir_contains().
 * Progress: wait-free.  Cost: as weir_contains(); of a window a read-side section besides.
 */
WEIR_API int weir_age(const struct weir_filter *f, const void *key, size_t len);
/** As weir_age(), of the eight bytes at &key. */
WEIR_API int weir_age_u64(const struct weir_filter *f, uint64_t key);
/** As weir_age(), of a hash. */
WEIR_API int weir_age_hash(const struct weir_filter *f, uint64_t hash);
/**
 * As weir_age(), of a batch.
 * @ages: receives the answer of weir_age() for each key; 0 if the batch has no form, as lookups
 *   answer true then.
 * Return: how many keys were seen.
 */
WEIR_API int64_t weir_age_keys(const struct weir_filter *f, struct weir_keys keys, int *ages);

/**
 * Advance now, whether that is due or not. An advance before its time shortens what is remembered.
 * Return: 0 or a negative errno.
 * Errors: -EDEADLK inside a read-side section of the window's flavor: it would wait for its own
 *   caller; -EBUSY an advance is under way; -ENOTSUP the filter is no window.
 * Threads: any, with all verbs.  Progress: blocking (a grace period).
 * Cost: others see it at once. The caller waits for a grace period and clears a generation: that
 *   of a ring is contiguous, that of columns is one word in each line of the whole window.
 */
WEIR_API WEIR_MUST_CHECK int weir_window_advance(struct weir_filter *f);

/**
 * Advance if that is due, by time or by number: for a window without a timer. Once, however late it
 * is: the next advance is a full span_seconds/(G-1) after this one. So call it ten times as often
 * as that: a call that comes a microsecond too early leaves the advance to the next one, and calls
 * a period apart may leave each second one, so that keys stay and pile up for twice as long.
 * Return: 1 it advanced; 0 it was not due, or another thread is at it; or a negative errno.
 * Errors: -EDEADLK, -ENOTSUP as weir_window_advance().
 * Threads: any, with all verbs.  Progress: wait-free where it answers 0, else blocking.
 * Cost: reading the clock; as weir_window_advance() where it answers 1.
 */
WEIR_API WEIR_MUST_CHECK int weir_window_tick(struct weir_filter *f);

/** The figures of each generation, beside those of weir_measure(). Start from
 * WEIR_WINDOW_STATS_INIT. Times are of the window's clock. */
struct weir_window_stats {
	size_t struct_size;
	uint32_t generations;       /* that are looked up */
	uint32_t reserved;
	double span_seconds;        /* as asked; 0: no advance by time */
	uint64_t generation_keys;   /* as asked; 0: no advance by number */
	uint64_t advances;          /* since creation; of a loaded one that came with its keys, G-1
	                               at most, and those since */
	double due_seconds;         /* until the next advance by time; negative: it is late;
	                               infinite if there is none by time */
	double late_seconds;        /* the most by which an advance came late */
	uint64_t keys_counted;      /* towards generation_keys, in the newest generation */
	uint64_t saved_ns;          /* since 1970: when the image was saved that it was loaded
	                               from; 0: it was created */
	double age_seconds[WEIR_WINDOW_MOST]; /* since generation i became the newest */
	double fill[WEIR_WINDOW_MOST];        /* share of its bits that are set */
};

#define WEIR_WINDOW_STATS_INIT WEIR__INIT(weir_window_stats)

/**
 * The figures of each generation of a window: from the bits of a sample of 16384 lines at even
 * distances, or of all.
 * @effort: enum weir_effort.
 * @out: from WEIR_WINDOW_STATS_INIT.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL @effort, struct_size; -ENOTSUP the filter is no window.
 * Threads: any, with all verbs.  Progress: wait-free.  Cost: below a millisecond in cache, a few
 *   beyond; with WEIR_EXACT memory bandwidth. Figures that change meanwhile are each right at some
 *   moment of the call.
 */
WEIR_API WEIR_MUST_CHECK int weir_window_measure(const struct weir_filter *f, uint32_t effort,
                                                 struct weir_window_stats *out);

WEIR_END_DECLS

#endif
