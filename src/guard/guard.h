/* SPDX-License-Identifier: MIT
 * The internals of a guard. Each thread counts in its own cell, a struct weir_guard_thread.
 *
 * [GUARD-CELL]  Only the thread that joined writes its cell. So an addition is a relaxed load and
 *    store instead of a locked operation, and no count is lost. A report may see a counter a moment
 *    late.
 * [GUARD-LIST]  The lock protects the list of cells. A thread that leaves takes the lock, adds its
 *    cell to the guard's sums and unlinks the cell. So a report counts each cell exactly once.
 * [GUARD-DECIDES]  A thread decides by its own counts alone. The decision only chooses between
 *    filter and store. An ask that bypasses the filter goes to the store, so no decision can miss a
 *    key.
 * [GUARD-LINES]  A cell owns a pair of cache lines (the CPU fetches lines in pairs), so no two
 *    threads write to one line. */
#ifndef WEIR_SRC_GUARD_GUARD_H
#define WEIR_SRC_GUARD_GUARD_H

#include <pthread.h>
#include <weir/guard.h>
#include "ground/atomic.h"

enum weir__guard_figure {
	WEIR__ASKED, WEIR__STOPPED, WEIR__TRUE_POSITIVES, WEIR__FALSE_POSITIVES, WEIR__BYPASSED,
	WEIR__BYPASSED_FOUND, WEIR__BYPASSED_ABSENT, WEIR__SWITCHES, WEIR__GUARD_FIGURES
};

struct weir_guard_thread {
	struct weir_guard *guard;
	atomic_uint_fast64_t figure[WEIR__GUARD_FIGURES];
	atomic_uint_fast64_t bypassing; /* 0 or 1 */
	uint64_t random;
	/* Counts since the last decision. measured: asks that went to the filter; stopped: asks
	 * that the filter stopped */
	uint32_t measured, stopped;
	struct weir_guard_thread *next, **link;
};

struct weir_guard {
	struct weir_guard_options options;
	pthread_mutex_t lock;
	struct weir_guard_thread *threads;
	uint32_t joined;
	uint64_t left[WEIR__GUARD_FIGURES]; /* sums over the threads that have left */
};

/* ---- counting asks, and bypassing the filter ---- */

enum {
	/* A bypass divides the window by this number, because it measures few of the asks. */
	WEIR__GUARD_SOONER = 16,
	WEIR__GUARD_MEASURED_BITS = 6, /* a bypass measures one of 2^6 = 64 asks */
};

/* Begin or end the bypass, by the share of the measured asks that the filter stopped. */
void weir__guard_decide(struct weir_guard_thread *t);

/* Report that the guard has no options.contains_hash. Return: -ENOTSUP. */
int weir__guard_no_hashes(void);

/* Add @more to a figure of the calling thread's cell ([GUARD-CELL]). */
static inline void weir__guard_add(struct weir_guard_thread *t, enum weir__guard_figure figure,
                                   uint64_t more)
{
	weir__figure_store_relaxed(&t->figure[figure],
	                           weir__figure_load_relaxed(&t->figure[figure]) + more);
}

static inline bool weir__guard_bypassing(const struct weir_guard_thread *t)
{
	return weir__figure_load_relaxed(&t->bypassing);
}

/* Return: the number of measured asks from one decision to the next. */
static inline uint32_t weir__guard_window(const struct weir_guard_thread *t)
{
	const uint32_t window = t->guard->options.window;
	return weir__guard_bypassing(t) ? window / WEIR__GUARD_SOONER : window;
}

/* Count @asked keys that the filter answered. It ruled out @stopped of these keys. */
static inline void weir__guard_measured(struct weir_guard_thread *t, uint32_t asked,
                                        uint32_t stopped)
{
	weir__guard_add(t, WEIR__STOPPED, stopped);
	t->stopped += stopped;
	t->measured += asked;
	if (t->measured >= weir__guard_window(t))
		weir__guard_decide(t);
}

/* Return: a random number from 0 to 63, since a fixed step could coincide with a pattern in the
 * traffic. Only the top bits of Knuth's linear congruential generator are good. */
static inline unsigned weir__guard_draw(struct weir_guard_thread *t)
{
	t->random = t->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(t->random >> (64 - WEIR__GUARD_MEASURED_BITS));
}

/* Count the ask of one key. Return: true if the ask bypasses the filter. */
static inline bool weir__guard_bypasses(struct weir_guard_thread *t)
{
	weir__guard_add(t, WEIR__ASKED, 1);
	if (!weir__guard_bypassing(t) || !weir__guard_draw(t))
		return false;
	weir__guard_add(t, WEIR__BYPASSED, 1);
	return true;
}

/* Count the filter's answer for one key. Return: WEIR_GUARD_ABSENT or _MAYBE. */
static inline int weir__guard_answer(struct weir_guard_thread *t, bool maybe)
{
	weir__guard_measured(t, 1, !maybe); /* !maybe adds 0 or 1 without a branch */
	return maybe;
}

#endif
