/* SPDX-License-Identifier: MIT
 * A guard's insides: threads' cells with what they counted.
 *
 * Q1  A cell has one writer, the thread that joined. So adding is a relaxed load and store, no
 *     locked operation, and loses no count; who reports reads each counter as it was a moment ago.
 * Q2  The list of cells is changed and walked under the lock. A cell that leaves is added to the
 *     guard's own in the same hold in which it goes, so a report counts it once.
 * Q3  What a thread decides by is its own. It only chooses who answers, filter or store; the store
 *     is asked whenever the filter is not, so no decision can miss a key.
 * Q4  A cell stands alone in two lines (the CPU fetches them in pairs), so no two threads write to
 *     one. */
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
	uint32_t measured, stopped; /* since it last decided */
	struct weir_guard_thread *next, **link;
};

struct weir_guard {
	struct weir_guard_options options;
	pthread_mutex_t lock;
	struct weir_guard_thread *threads;
	uint32_t joined;
	uint64_t left[WEIR__GUARD_FIGURES]; /* of threads that are gone */
};

/* ---- what each ask counts, and whether it leaves the filter out ---- */

enum {
	WEIR__GUARD_SOONER = 16, /* times, while bypassed: measured asks are rare then */
	WEIR__GUARD_MEASURED_BITS = 6, /* one of 64 */
};

/* Stop or begin to leave the filter out, by the share of measured asks that it stopped. */
void weir__guard_decide(struct weir_guard_thread *t);

/* That a guard has no options.contains_hash. Return: -ENOTSUP. */
int weir__guard_no_hashes(void);

/* Q1 */
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

/* Measured asks that a decision takes. */
static inline uint32_t weir__guard_window(const struct weir_guard_thread *t)
{
	const uint32_t window = t->guard->options.window;
	return weir__guard_bypassing(t) ? window / WEIR__GUARD_SOONER : window;
}

/* The filter was asked for so many keys, and ruled so many of them out. */
static inline void weir__guard_measured(struct weir_guard_thread *t, uint32_t asked,
                                        uint32_t stopped)
{
	weir__guard_add(t, WEIR__STOPPED, stopped);
	t->stopped += stopped;
	t->measured += asked;
	if (t->measured >= weir__guard_window(t))
		weir__guard_decide(t);
}

/* At random: traffic may repeat itself. Of Knuth's generator the top bits are good. */
static inline unsigned weir__guard_draw(struct weir_guard_thread *t)
{
	t->random = t->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(t->random >> (64 - WEIR__GUARD_MEASURED_BITS));
}

/* Counts the ask of one key. Return: does it leave the filter out? */
static inline bool weir__guard_left_out(struct weir_guard_thread *t)
{
	weir__guard_add(t, WEIR__ASKED, 1);
	if (!weir__guard_bypassing(t) || !weir__guard_draw(t))
		return false;
	weir__guard_add(t, WEIR__BYPASSED, 1);
	return true;
}

/* Of one key that did not. Return: WEIR_GUARD_ABSENT or _MAYBE. */
static inline int weir__guard_answer(struct weir_guard_thread *t, bool maybe)
{
	weir__guard_measured(t, 1, !maybe); /* without a branch, which nobody could predict */
	return maybe;
}

#endif
