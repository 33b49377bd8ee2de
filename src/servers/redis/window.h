/* SPDX-License-Identifier: MIT
 * A window, independent of Redis: a set whose items expire. A window has a span of `seconds` and
 * generations, each with the time at which it began and a chain (chain.h) of the items added since.
 * A generation lasts one step, which is the span divided by the setting `generations`. A write that
 * lies past the end of the newest generation begins a new one, and frees the expired ones. All
 * chains have one seed, so one hash of an item serves all of them.
 *
 * Times are milliseconds since 1970. The caller passes the time: of its clock, or of the write that
 * its master or a file tells.
 *
 * [WINDOW-AGE]  A generation is read while its end + span > now. An item that is added at time t
 *    lies in a generation with begin <= t < begin + step, so it is found until t + span, and not at
 *    t + span + step. Steps follow each other without a drift: a new generation begins a multiple
 *    of the step after the last one. So at any time at most generations + 1 are read, and the ring
 *    has room for a new one when the expired ones are freed. Breaks without it: if a generation
 *    ended with its begin + span, an item that came last would be missed a step too early.
 *    test_window.c compares random writes with a model.
 *
 * [WINDOW-TIME]  The newest time never decreases, and lies in the newest generation. A write at an
 *    earlier time counts as a write at the newest time. So a clock that was set back adds to the
 *    newest generation, which outlives all others. Breaks without it: a generation before the
 *    newest would take the item, and be freed with that one's items, before the item is as old as
 *    the span. test_window.c sets the clock back.
 *
 * [WINDOW-FREE]  A write frees a generation only if no reader at the write's time reads it, and
 *    only when it begins a generation. By WINDOW-TIME it begins one only if its time is above the
 *    newest time, so its time is then the writer's true clock and not the newest time that stands
 *    in for it. On a replica it is the master's clock, by which the freed items are older than the
 *    span. Breaks without it: a reader on the master could miss an item at an age below the span.
 *    test_window.c asks for each item after each write.
 *
 * [WINDOW-READ]  A reader takes its own clock as it is, even if the newest time is later. Then that
 *    clock was set back, or is a replica's that is behind, and an earlier time only reads more
 *    generations: nothing is missed, and items are found for longer by the difference at most. The
 *    later of the two times would gain nothing: the ring has no generation that expired before the
 *    newest one began. Breaks without it: if a clock was ahead for a while, a generation whose
 *    items are younger than the span by the right clock is missed. test_window.c has such a
 *    generation. */
#ifndef WEIR_REDIS_WINDOW_H
#define WEIR_REDIS_WINDOW_H

#include "chain.h"

enum { WINDOW_GENERATIONS = 64 };
#define WINDOW_SECONDS_MOST UINT32_MAX
#define WINDOW_TIME_MOST (UINT64_C(1) << 53) /* so that any client can read a time */

struct window_settings {
	double error;         /* of the whole window: between 0 and 1 */
	uint64_t capacity;    /* items added within one span */
	uint64_t seconds;     /* the span */
	uint64_t generations; /* steps in a span: 1 to WINDOW_GENERATIONS */
	uint64_t expansion;   /* of each generation's chain; 0: full generations take no items */
	uint64_t seed;
};

struct window_generation {
	uint64_t begin;
	struct chain *chain;
};

struct window {
	const struct chain_memory *memory;
	double error; /* this and the next five are the settings */
	uint64_t capacity, seed;
	uint32_t seconds, expansion;
	uint8_t generations;
	uint8_t n;       /* generations in the ring */
	uint64_t newest; /* the time of the last write that changed the window [WINDOW-TIME] */
	uint64_t ahead;  /* the largest amount by which a write was ahead of this server's clock */
	struct window_generation ring[]; /* oldest first; room for generations + 1 */
};

/* Functions that return an int return 0 or a negative errno, with weir_error_detail(). -EFBIG: the
 * window would have more than @most bytes of bits. @most 0: no limit. */
/* Make a window whose first generation begins at @now. */
int window_create(struct window **out, const struct window_settings *s, uint64_t now,
                  uint64_t most, const struct chain_memory *memory);
void window_destroy(struct window *w);
int window_copy(struct window **out, const struct window *from);
struct window_settings window_settings_of(const struct window *w);

static inline uint64_t window_span(const struct window *w)
{
	return w->seconds * UINT64_C(1000);
}

/* The step is rounded up to a millisecond. */
static inline uint64_t window_step(const struct window *w)
{
	return (window_span(w) + w->generations - 1) / w->generations;
}

/* Return: true if a reader at @now reads the generation [WINDOW-AGE]. */
static inline bool window_reads(const struct window *w, unsigned i, uint64_t now)
{
	return w->ring[i].begin + window_step(w) + window_span(w) > now;
}

/* Return: the time that counts for a write at @time [WINDOW-TIME]. */
static inline uint64_t window_time(const struct window *w, uint64_t time)
{
	return time > w->newest ? time : w->newest;
}

uint64_t window_hash(const struct window *w, const void *item, size_t len);
/* Add an item. Return: 1 if the window changed; 0 if the newest generation has the item; or a
 * negative errno, and the item is not added: -ENOSPC the generation is full and may not grow. */
int window_add(struct window *w, uint64_t hash, uint64_t time, uint64_t most);
bool window_has(const struct window *w, uint64_t hash, uint64_t now);
void window_has_hashes(const struct window *w, const uint64_t *hashes, size_t n, uint64_t now,
                       bool *found);
/* Record a write at @time that this server does at @now by its own clock. */
void window_note_clock(struct window *w, uint64_t time, uint64_t now);

uint64_t window_items(const struct window *w, uint64_t now); /* of the generations read at @now */
uint64_t window_bytes(const struct window *w);
size_t window_usage(const struct window *w);

/* For loading, from an enemy too: make a window without generations, append a generation, and set
 * the newest time, which lies in the newest generation. window_append() takes the chain only if it
 * returns 0. */
int window_make(struct window **out, const struct window_settings *s,
                const struct chain_memory *memory);
int window_append(struct window *w, uint64_t begin, struct chain *chain);
int window_advance(struct window *w, uint64_t newest);

#endif
