/* SPDX-License-Identifier: MIT
 * What was seen lately: a window over the last T seconds, or the last N inserts. It is for replay
 * protection, for duplicates in a stream, for "was this client here in the last hour".
 *
 * A window has generations 0, the newest, to G-1. Inserts go to the newest, lookups look in all of
 * them. Each generation is the newest for T/(G-1) seconds. Then the window advances: an empty
 * generation becomes the newest, and the oldest is dropped. So a key is remembered for at least T
 * after its insert began, and for at most T * G/(G-1) plus the time by which advances come late. A
 * late advance is never caught up: the next one comes a full T/(G-1) after it.
 *
 * Who may call what with whom: all verbs at the same time, except weir_window_destroy(). Lookups
 * and inserts are wait-free and allocate nothing. An insert runs in a read-side section of liburcu
 * for the time of the call, a lookup only if an advance comes meanwhile. An advance publishes one
 * number. Then it waits until every section that began before has ended, and clears what was
 * dropped. So a stalled section delays the next advance, and never loses a key.
 *
 * Two layouts. WEIR_WINDOW_COLUMNS: a key has one word of each generation, side by side in one
 * cache line of up to 7 generations, so that a lookup touches one line. WEIR_WINDOW_RING: each
 * generation is an array of its own, with one line a generation to touch; it takes words_per_key
 * above 1, which needs less memory. Both hold one generation more than they show: the one that is
 * being cleared.
 *
 * A window outlives its process as an image: weir_window_save() beside all else, weir_window_load()
 * at the next start. Between the two its time stands still, unless the time that has passed is to
 * count (forget_older).
 */
#ifndef WEIR_WINDOW_H
#define WEIR_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <weir/export.h>
#include <weir/filter.h>
#include <weir/image.h>

WEIR_BEGIN_DECLS

struct weir_window; /* opaque */
struct rcu_flavor_struct;

enum {
	WEIR_WINDOW_LEAST = 2, /* generations */
	WEIR_WINDOW_MOST = 16,
};

/** For layout in struct weir_window_options. */
enum weir_window_layout {
	WEIR_WINDOW_CHOSEN = 0,  /* columns; a ring if words_per_key is above 1 */
	WEIR_WINDOW_COLUMNS = 1, /* fastest */
	WEIR_WINDOW_RING = 2,    /* least memory */
};

/**
 * What window to create. Start from WEIR_WINDOW_OPTIONS_INIT, then set fields; 0 means "not given".
 *
 * Give two of capacity, fp_rate and max_bytes, as for struct weir_params: they are of all
 * generations together, at the moment before an advance, when they hold most. Each has an equal
 * share of the capacity. So where keys come unevenly, give generations times the most that come in
 * span_seconds/(generations-1).
 */
struct weir_window_options {
	size_t struct_size;       /* sizeof(struct weir_window_options) */
	uint32_t generations;     /* G: 2 to 16; 0: 7 */
	uint32_t layout;          /* enum weir_window_layout */
	uint64_t capacity;        /* keys of all generations; 0 with generation_keys: that * G */
	double fp_rate;           /* false positives of all generations: 1e-9 for each of
	                             them to 0.5 */
	uint64_t max_bytes;       /* bytes of bits, with the generation that is being cleared */
	double span_seconds;      /* T: 0.001 to 1e9; 0: no advance by time */
	uint64_t generation_keys; /* advance after so many inserts that changed the newest
	                             generation, capacity / generations at most; beyond 65535 it
	                             is counted in a sample, to 1 %; 0: no advance by number.
	                             With both, the first to come. */
	uint32_t timer;           /* 1: a thread of the window's own advances it when that is due;
	                             0: the caller does, by weir_window_tick() */
	uint32_t words_per_key;   /* 1, 2, 4, 8; 0: columns 1, a ring what needs least memory. With
	                             1 at most one of racing inserts is answered WEIR_NEW. */
	uint32_t flags;           /* enum weir_flags */
	uint64_t seed;            /* as in struct weir_params */
	const void *hash_key;     /* as in struct weir_params */
	/* liburcu's flavor, as for weir_handle_create(); NULL: urcu-bp */
	const struct rcu_flavor_struct *flavor;
	/* Nanoseconds that never go back; NULL: CLOCK_MONOTONIC. Not with timer. It is called in
	   sections and must not wait. */
	uint64_t (*clock)(void *clock_arg);
	void *clock_arg;
};

#define WEIR_WINDOW_OPTIONS_INIT \
	{ sizeof(struct weir_window_options), 0, 0, 0, 0.0, 0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/** What a window of given options will be. Start from WEIR_WINDOW_PLAN_INIT. */
struct weir_window_plan {
	size_t struct_size;
	uint32_t layout;        /* columns or ring */
	uint32_t generations;   /* that are looked up */
	uint32_t words_per_key;
	uint32_t bits_per_word;
	uint64_t capacity;      /* keys of all generations */
	uint64_t bytes;         /* of bits, with the generation that is being cleared */
	double bits_per_key;    /* bytes * 8 / capacity */
	double fp_rate;         /* of all generations, full */
};

#define WEIR_WINDOW_PLAN_INIT \
	{ sizeof(struct weir_window_plan), 0, 0, 0, 0, 0, 0, 0.0, 0.0 }

/** What a window holds. Start from WEIR_WINDOW_STATS_INIT. Times are of the window's clock. */
struct weir_window_stats {
	size_t struct_size;
	struct weir_window_plan plan;
	uint64_t advances;          /* since creation; of a loaded one that came with its keys,
	                               G-1 at most, and those since */
	double due_seconds;         /* until the next advance by time; negative: it is late;
	                               infinite if there is none by time */
	double late_seconds;        /* the most by which an advance came late */
	uint64_t keys_counted;      /* towards generation_keys, in the newest generation */
	double keys_estimated;      /* of all generations, from the bits */
	double fp_rate_estimated;   /* at present, from the bits */
	double age_seconds[WEIR_WINDOW_MOST]; /* since generation i became the newest */
	double fill[WEIR_WINDOW_MOST];        /* share of its bits that are set */
	double span_seconds;                  /* as asked; 0: no advance by time */
	uint64_t generation_keys;             /* as asked; 0: no advance by number */
	uint64_t saved_ns;                    /* since 1970: when the image was saved that it was
	                                         loaded from; 0: it was created */
};

#define WEIR_WINDOW_STATS_INIT \
	{ sizeof(struct weir_window_stats), WEIR_WINDOW_PLAN_INIT, 0, 0.0, 0.0, 0, 0.0, 0.0, \
	  { 0.0 }, { 0.0 }, 0.0, 0, 0 }

/**
 * The sizing calculator of a window.
 * @options: as for weir_window_create(); seed, hash_key, flavor and the clock are ignored.
 * @out: the plan; its struct_size must be set (WEIR_WINDOW_PLAN_INIT).
 * Return: 0 or a negative errno.
 * Errors: as weir_window_create(), but for those of memory and threads.
 * Threads: any.  Progress: wait-free.  Cost: some milliseconds of arithmetic.
 */
WEIR_API WEIR_MUST_CHECK int weir_window_plan(const struct weir_window_options *options,
                                              struct weir_window_plan *out);

/**
 * Create an empty window. The first generation is the newest from now on.
 * @out: receives the window; untouched on failure.
 * @options: from WEIR_WINDOW_OPTIONS_INIT.
 * Return: 0 or a negative errno.
 * Errors: -EINVAL, -EFBIG an option is out of its range or does not go with another, or fewer than
 *   two of capacity, fp_rate and max_bytes are given; -ENOMEM; -ENOTSUP the environment variable
 *   WEIR_ISA names an instruction set that this machine lacks; the errnos of getrandom(),
 *   eventfd() and pthread_create().
 * Threads: any.  Progress: blocking (memory).  Cost: as weir_create().
 */
WEIR_API WEIR_MUST_CHECK int weir_window_create(struct weir_window **out,
                                                const struct weir_window_options *options);

/**
 * End the timer's thread, if there is one, and free the window. No other thread may use it any
 * more. The caller is in no read-side section. In a child of fork() that thread does not exist, and
 * only the memory is freed. A child of a fork() during an advance cannot advance its copy (-EBUSY),
 * so create the window after becoming a daemon.
 * @w: a window, or NULL for nothing.
 * Return: 0.  Errors: none.  Threads: the last user.  Progress: blocking (an advance under way).
 */
WEIR_API int weir_window_destroy(struct weir_window *w);

/** As weir_hash(), of a window's keys. */
WEIR_API uint64_t weir_window_hash(const struct weir_window *w, const void *key, size_t len);

/**
 * Insert a key into the newest generation, also if an older one has it: it is remembered for at
 * least span_seconds from now.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: WEIR_NEW no generation had the key; WEIR_SEEN one had it, or answers so by chance. Of
 *   threads that insert one key at the same time at most one is answered WEIR_NEW if words_per_key
 *   is 1, also when the window advances meanwhile: then it can be none, while without an advance it
 *   is exactly one. If words_per_key is above 1, at least one is.
 * Errors: none.  Threads: any, with all verbs.  Order: a lookup sees every insert that
 *   happens-before it.  Progress: wait-free.
 * Cost: as a lookup and an insert into the blocked kind.
 * Source: a ring of filters that age is from Yoon 2010 and Shtul, Baquero, Almeida 2020.
 */
WEIR_API int weir_window_insert(struct weir_window *w, const void *key, size_t len);
/** As weir_window_insert(), of a hash: by weir_window_hash() or the caller's own function. */
WEIR_API int weir_window_insert_hash(struct weir_window *w, uint64_t hash);
/** As weir_window_insert(), of the eight bytes at &key. */
WEIR_API int weir_window_insert_u64(struct weir_window *w, uint64_t key);

/**
 * Was this key seen lately?
 * @key: @len bytes; may be NULL when len is 0.
 * Return: false: not within the last span_seconds. true: it was inserted within the last
 *   span_seconds * G/(G-1), plus what advances are late; of other keys a full window answers true
 *   for the share fp_rate.
 * Errors: none.  Threads: any, with all verbs.  Order: every insert that happens-before it is seen.
 * Progress: wait-free.  Cost: columns one cache line up to 7 generations, two up to 15, three for
 *   16; a ring one a generation, fetched together.
 */
WEIR_API bool weir_window_contains(const struct weir_window *w, const void *key, size_t len);
/** As weir_window_contains(), of a hash. */
WEIR_API bool weir_window_contains_hash(const struct weir_window *w, uint64_t hash);
/** As weir_window_contains(), of the eight bytes at &key. */
WEIR_API bool weir_window_contains_u64(const struct weir_window *w, uint64_t key);

/**
 * The newest generation that has a key.
 * @key: @len bytes; may be NULL when len is 0.
 * Return: 0, the newest, to G-1; -ENOENT none has it, an answer for which no sentence is set. Its
 *   insert was weir_window_stats.age_seconds[i] ago at most.
 * Errors: none.  Threads, Order, Progress, Cost: as weir_window_contains().
 */
WEIR_API int weir_window_age(const struct weir_window *w, const void *key, size_t len);
/** As weir_window_age(), of a hash. */
WEIR_API int weir_window_age_hash(const struct weir_window *w, uint64_t hash);

/**
 * Look up many keys in a window: their cache misses overlap.
 * @bitmap: WEIR_BITMAP_WORDS(n) words that receive the answers, bits past n cleared; or NULL.
 * Return: how many were seen lately.
 * Errors: none.  Threads, Order, Progress: as weir_window_contains() of each key.
 * Cost: in cache from about 2 ns a key.
 */
WEIR_API int64_t weir_window_contains_keys(const struct weir_window *w, struct weir_keys keys,
                                           uint64_t *bitmap);

/**
 * Insert many keys into a window, in no particular order.
 * @bitmap: as for weir_window_contains_keys(); a bit is set if its key was WEIR_NEW.
 * Return: how many were WEIR_NEW.
 * Errors: none.  Threads, Order, Progress: as weir_window_insert() of each key.
 * Cost: in cache from about 10 ns a key.
 */
WEIR_API int64_t weir_window_insert_keys(struct weir_window *w, struct weir_keys keys,
                                         uint64_t *bitmap);

/**
 * Advance now, whether that is due or not. An advance before its time shortens what is remembered.
 * Return: 0 or a negative errno.
 * Errors: -EDEADLK inside a read-side section of the window's flavor: it would wait for its own
 *   caller; -EBUSY an advance is under way.
 * Threads: any, with all verbs.  Progress: blocking (a grace period).
 * Cost: others see it at once. The caller waits for a grace period and clears a generation: that
 *   of a ring is contiguous, that of columns is one word in each line of the whole window.
 */
WEIR_API WEIR_MUST_CHECK int weir_window_advance(struct weir_window *w);

/**
 * Advance if that is due, by time or by number: for a window without a timer. Once, however late it
 * is: the next advance is a full span_seconds/(G-1) after this one. So call it ten times as often
 * as that: a call that comes a microsecond too early leaves the advance to the next one, and calls
 * a period apart may leave each second one, so that keys stay and pile up for twice as long.
 * Return: 1 it advanced; 0 it was not due, or another thread is at it; or a negative errno.
 * Errors: -EDEADLK as weir_window_advance().
 * Threads: any, with all verbs.  Progress: wait-free where it answers 0, else blocking.
 * Cost: reading the clock; as weir_window_advance() where it answers 1.
 */
WEIR_API WEIR_MUST_CHECK int weir_window_tick(struct weir_window *w);

/**
 * What a window holds: from the bits of a sample of 16384 lines at even distances, or of all.
 * @out: its struct_size must be set (WEIR_WINDOW_STATS_INIT).
 * Return: 0 or a negative errno.
 * Errors: -EINVAL struct_size.
 * Threads: any, with all verbs.  Progress: wait-free.  Cost: below a millisecond in cache, a few
 *   beyond. Figures that change meanwhile are each right at some moment of the call.
 */
WEIR_API WEIR_MUST_CHECK int weir_window_stats(const struct weir_window *w,
                                               struct weir_window_stats *out);

/**
 * Save a window to a file, atomically, as weir_save() does: with the age of each generation. What
 * holds up the others is a copy in memory, made in one read-side section: only the clearing of the
 * next advance waits for it. With qsbr an online thread holds up every grace period, and so every
 * advance, until the file is written. So there a thread may call it offline, and is online for the
 * copy alone.
 * @w: may be in use. What was inserted before the call is in the file, unless it is dropped
 *   meanwhile; an insert concurrent with the call may or may not be.
 * @options: as for weir_save(), but marks must be 0; NULL for the defaults.
 * Return, Errors: as weir_save().
 * Threads: any, with all verbs, in a read-side section or not.  Order: relaxed.  Progress: blocking
 *   (file system).  Cost: memory for a copy of all generations and of one more, memory bandwidth,
 *   then the disk.
 */
WEIR_API WEIR_MUST_CHECK int weir_window_save(const struct weir_window *w, const char *path,
                                              const struct weir_save_options *options);
/**
 * As weir_window_save(), to an open file, pipe or socket: as weir_save_fd().
 */
WEIR_API WEIR_MUST_CHECK int weir_window_save_fd(const struct weir_window *w, int fd,
                                                 const struct weir_save_options *options);

/**
 * How to load a window. Start from WEIR_WINDOW_LOAD_OPTIONS_INIT. Size, layout, span_seconds and
 * generation_keys are the image's.
 */
struct weir_window_load_options {
	size_t struct_size;    /* sizeof(struct weir_window_load_options) */
	uint64_t max_bytes;    /* of bits, with the generation that is being cleared: refuse larger
	                          windows; 0: no limit but memory */
	uint32_t flags;        /* enum weir_flags, for the memory */
	uint32_t timer;        /* as in struct weir_window_options, like all up to the clock */
	const void *hash_key;
	const struct rcu_flavor_struct *flavor;
	uint64_t (*clock)(void *clock_arg);
	void *clock_arg;
	uint32_t forget_older; /* 1: the time since the save, by CLOCK_REALTIME, has passed for its
	                          keys too; 0: ages go on from what they were */
	weir_progress_fn *progress; /* may be NULL */
	void *progress_arg;
};

#define WEIR_WINDOW_LOAD_OPTIONS_INIT \
	{ sizeof(struct weir_window_load_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Read a window's image, plain or compressed, into memory of its own. The window goes on as if no
 * time had passed since the save: its keys are remembered for span_seconds at least, less what of
 * it had passed then. With forget_older the advances that would have come since have come, at
 * their times. If the machine's clock was set back meanwhile, no time has passed.
 * @out: receives the window; untouched on failure.
 * @options: NULL for the defaults.
 * Return: 0 or a negative errno; never an empty or partial window.
 * Errors: as weir_load() and weir_window_create(); -ENOTSUP the image is that of a filter; -EINVAL
 *   forget_older of a window that advances by number alone.
 * Threads: any.  Order: none; publish the window with release order.
 * Progress: blocking (file system).  Cost: the disk, then memory bandwidth. Memory for the window
 *   and one generation more, touched as they come, and up to 10 MiB to unpack a compressed image.
 */
WEIR_API WEIR_MUST_CHECK int weir_window_load(struct weir_window **out, const char *path,
                                              const struct weir_window_load_options *options);
/** As weir_window_load(), from an open file, pipe or socket: as weir_load_fd(). */
WEIR_API WEIR_MUST_CHECK int weir_window_load_fd(struct weir_window **out, int fd,
                                                 const struct weir_window_load_options *options);
/** As weir_window_load(), from @bytes bytes of memory that hold exactly one image. */
WEIR_API WEIR_MUST_CHECK int weir_window_load_memory(
	struct weir_window **out, const void *image, size_t bytes,
	const struct weir_window_load_options *options);

/**
 * What a window's image holds, as weir_window_stats() would report right after loading it. No key
 * is needed for that.
 * @options: as for weir_window_load(); hash_key, timer, flavor and the clock are ignored.
 * @out: its struct_size must be set (WEIR_WINDOW_STATS_INIT).
 * Return, Errors, Threads, Progress, Cost: as weir_window_load().
 */
WEIR_API WEIR_MUST_CHECK int weir_window_image_stats(
	const char *path, const struct weir_window_load_options *options,
	struct weir_window_stats *out);

WEIR_END_DECLS

#endif
