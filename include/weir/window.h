/* SPDX-License-Identifier: MIT
 * A window remembers the keys of the last T seconds, or of the last N inserts, and forgets older
 * keys. Use it against replays, for duplicates in a stream, or for the clients of the last hour. It
 * is a filter of kind WEIR_WINDOW: weir_insert() remembers a key from now on, and weir_contains()
 * tests whether a key is remembered. Its parameters are in weir_params.window (params.h).
 *
 *     struct weir_params params = WEIR_PARAMS_INIT;
 *     params.kind = WEIR_WINDOW, params.capacity = 1000000, params.fp_rate = 0.0001;
 *     params.window.span_seconds = 300, params.window.run.timer = true;
 *     err = weir_create(&f, &params);
 *     if (weir_insert(f, nonce, len) == WEIR_NEW) ...     not seen in the last 300 seconds
 *
 * Generations. A window has generations 0, the newest, to G-1. Inserts go to the newest generation,
 * and lookups test all generations. A generation is the newest for T/(G-1) seconds, or until it has
 * window.generation_keys keys. Then the window must advance: an empty generation becomes the
 * newest, and the oldest is dropped. If window.run.timer is true, a thread of the window advances
 * it. Otherwise the caller must call weir_window_tick(), ten times per period of T/(G-1). Without a
 * timer and without ticks the window never forgets. If a window advances by time alone, it
 * remembers a key for at least T after the insert began, and for at most T * G/(G-1) plus the delay
 * of late advances. A late advance is not made up for: the next advance comes a full T/(G-1) after
 * it.
 *
 * WEIR_NEW means that no generation has the key. If only an older generation has the key, an insert
 * returns WEIR_SEEN and adds the key to the newest generation. Threads may race to insert a new
 * key. With words_per_key 1 exactly one of them gets WEIR_NEW, or at most one if the window
 * advances at that time. With more words at least one gets WEIR_NEW.
 *
 * Threads. All verbs may run at the same time, except weir_destroy(). Lookups and inserts are
 * wait-free and allocate nothing. Every insert runs in a read-side section of liburcu; a lookup
 * opens one only if the window advances during the lookup. An advance publishes one number, waits
 * until every section that began before has ended, and clears the dropped generation. So a stalled
 * section delays the next advance, but never loses a key.
 *
 * Layouts. With WEIR_WINDOW_COLUMNS a key has one word in each generation. The words lie side by
 * side in one cache line, for up to 7 generations, so a lookup reads one line. With
 * WEIR_WINDOW_RING each generation is an array of its own, and a lookup reads one line in each. A
 * ring allows words_per_key above 1, which needs less memory. A ring allocates G+1 generations,
 * since a dropped generation must be cleared before it is used again. Columns round G+1 up to 4, 8,
 * 16 or 24 words, half a cache line or whole lines. The bytes of plans and statistics include all
 * of these.
 *
 * Images. A window cannot be merged, cloned, folded, mapped or published by a handle, and does not
 * normalise keys. To keep it across a restart, call weir_save() at any time and weir_load() at the
 * next start. A save copies all generations in one read-side section, and needs memory for the
 * copy. Only the clearing of the next advance waits for the section. With qsbr an offline thread
 * may save; it is online for the copy alone. A save refuses weir_save_options.marks. The time
 * between save and load does not count: a key is remembered for at least span_seconds, less its age
 * at the save. With run.forget_older in struct weir_load_options that time counts: weir_load()
 * advances the window as often as it would have advanced, or returns -EINVAL if the window advances
 * by number alone. If the system clock was set back since the save, no time counts.
 *
 * weir_create() may also fail with the errnos of eventfd() and pthread_create(). weir_destroy()
 * ends the timer's thread; call it outside of read-side sections. A child of fork() does not have
 * that thread, and weir_destroy() only frees the memory. If fork() came during an advance, the
 * child cannot advance its copy (-EBUSY), so create the window after becoming a daemon.
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
	WEIR_WINDOW_LEAST = 2, /* smallest number of generations of a window */
	WEIR_WINDOW_MOST = 16, /* largest number of generations of a window */
};

/**
 * Find the newest generation that may have a key.
 * @f: of any kind. A filter of another kind has one generation.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: the generation's number, 0 for the newest of all; -1 if the key was not seen.
 * Errors: none.  Threads, Order: as weir_contains().
 * Progress: wait-free.  Cost: as weir_contains(), and for a window a read-side section.
 */
WEIR_API int weir_age(const struct weir_filter *f, const void *key, size_t len);
/** As weir_age(), for the eight bytes at &key. */
WEIR_API int weir_age_u64(const struct weir_filter *f, uint64_t key);
/** As weir_age(), for a hash. */
WEIR_API int weir_age_hash(const struct weir_filter *f, uint64_t hash);
/**
 * As weir_age(), for a batch.
 * @ages: receives the answer of weir_age() for each key. For a batch of form WEIR_KEYS_NONE all
 *   ages are 0, since its lookups answer true.
 * Return: how many keys were seen.
 */
WEIR_API int64_t weir_age_keys(const struct weir_filter *f, struct weir_keys keys, int *ages);

/**
 * Advance a window now, even if it is too early: keys are then remembered for a shorter time.
 * Return: 0 or a negative errno.
 * Errors: -EDEADLK inside a read-side section of the window's flavor, since the call would wait for
 *   its own caller; -EBUSY if another thread advances the window; -ENOTSUP for any other kind.
 * Threads: any, with all verbs.  Progress: blocking (a grace period).
 * Cost: other threads see the advance at once. The caller waits for a grace period and clears a
 *   generation, which is contiguous in a ring; in columns its words are spread over the window.
 */
WEIR_API WEIR_MUST_CHECK int weir_window_advance(struct weir_filter *f);

/**
 * Advance a window if its time or its number of keys is reached. Call it for a window without a
 * timer, ten times in each period of span_seconds/(G-1). It advances at most once, and the next
 * advance comes a full period later. If a call comes a microsecond too early, the next call has to
 * advance. So if calls are a whole period apart, every second call may come too early; then keys
 * stay for twice as long and pile up.
 * Return: 1 if it advanced; 0 if it is too early or another thread advances it; a negative errno.
 * Errors: -EDEADLK, -ENOTSUP as weir_window_advance().
 * Threads: any, with all verbs.  Progress: wait-free if it returns 0, else blocking.
 * Cost: reading the clock; as weir_window_advance() if it returns 1.
 */
WEIR_API WEIR_MUST_CHECK int weir_window_tick(struct weir_filter *f);

/** The figures of each generation of a window. Start from WEIR_WINDOW_STATS_INIT. All times are by
 * the window's clock, except saved_ns. */
struct weir_window_stats {
	size_t struct_size;         /* sizeof(struct weir_window_stats) */
	uint32_t generations;       /* number of generations that lookups test */
	uint32_t reserved;
	double span_seconds;        /* as in weir_params.window; 0: no advance by time */
	uint64_t generation_keys;   /* as in weir_params.window; 0: no advance by number */
	uint64_t advances;          /* number of advances since creation; for a loaded window
	                               since the load, plus at most G-1 earlier advances */
	double due_seconds;         /* time to the next advance; negative: how late the advance is;
	                               infinite: no advance by time */
	double late_seconds;        /* the longest delay of an advance so far */
	uint64_t keys_counted;      /* keys in the newest generation, counted for generation_keys */
	uint64_t saved_ns;          /* time at which the window's image was saved, in nanoseconds
	                               since 1970; 0: the window was created, not loaded */
	double age_seconds[WEIR_WINDOW_MOST]; /* seconds since generation i became the newest; 0:
	                                         it never was */
	double fill[WEIR_WINDOW_MOST];        /* share of generation i's bits that are set */
};

#define WEIR_WINDOW_STATS_INIT WEIR__INIT(weir_window_stats)

/**
 * Measure each generation of a window, from all lines of bits or from 16384 evenly spaced lines.
 * @effort: enum weir_effort; WEIR_EXACT reads all lines.
 * @out: from WEIR_WINDOW_STATS_INIT.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL for @effort or struct_size; -ENOTSUP if the filter is of another kind.
 * Threads: any, with all verbs. A figure that changes during the call is its value at some moment.
 * Progress: wait-free.  Cost: below a millisecond for a window in cache, else a few
 *   milliseconds; with WEIR_EXACT memory bandwidth.
 */
WEIR_API WEIR_MUST_CHECK int weir_window_measure(const struct weir_filter *f, uint32_t effort,
                                                 struct weir_window_stats *out);

WEIR_END_DECLS

#endif
