/* SPDX-License-Identifier: MIT
 * A loader that takes a share of a core. It works in pieces; the CPU time of each adds to a debt of
 * sleep, which is slept off between two pieces. Debt that one call, or one of several loader
 * threads, leaves over is slept off by the next, at last by the commit.
 *
 * P1  No thread sleeps in a read-side section: every grace period of the flavor would wait. A
 *     thread in a section leaves its debt. With qsbr a thread sleeps offline, for the same reason.
 * P2  A thread is not cancelled while it sleeps. So verbs without a cancellation point get none,
 *     and with qsbr no thread ends offline (H6 in generation.h).
 * P3  Long sleeps are cut, so that a function that may stop the work (progress.h) is asked in
 *     between.
 * P4  The CPU time that sleeping itself takes is not work. Some 20 us a sleep would otherwise be a
 *     debt of 20 ms with the smallest pace, which is the next sleep: a loader would never end.
 * P5  A timed call for one key stands for many, but a look at the clock must not: it costs ten
 *     times as much as the call. So the look is measured each time, right before the call, by two
 *     looks with nothing in between. It is taken off the call's time and counted separately. */
#ifndef WEIR_SRC_PACE_H
#define WEIR_SRC_PACE_H

#include "filter/filter.h"
#include "ground/atomic.h"
#include "rcu/rcu.h"

struct weir_pace {
	const struct weir_rcu *rcu;
	double rest;                  /* seconds of sleep per second of work */
	uint64_t least;               /* nanoseconds of debt at which a sleep begins */
	bool asked;                   /* false: no pace */
	atomic_uint_fast64_t owed;    /* nanoseconds of sleep */
	atomic_uint_fast64_t singles; /* calls for one key */
};

enum {
	WEIR__PACE_PIECE = 2048, /* keys at a time */
	WEIR__PACE_SINGLES = 256, /* one in this many calls for one key is timed */
};

/* @share: the pace in the caller's options. Return: 0, or -EINVAL with the sentence. */
int weir__pace_check(double share);
/* @share: checked.  @rcu: must live as long as @p. */
void weir__pace_make(struct weir_pace *p, const struct weir_rcu *rcu, double share);

/* The CPU time of this thread when work begins.
 * Return: nanoseconds; 0 if work is not measured. */
uint64_t weir__pace_begin(const struct weir_pace *p);
/* Add the work since @began, @times over, to the debt.
 * Return: when the next work begins; 0 if @began is 0. */
uint64_t weir__pace_note(struct weir_pace *p, uint64_t began, unsigned times);
/* Sleep off a part of the debt, at most 20 ms.
 * @goes_on: a part was slept off just now; otherwise a small debt is left.
 * Return: true if there is debt left to go on with. */
bool weir__pace_rest(struct weir_pace *p, bool goes_on);

/* Note the work, sleep off the debt, and begin again. Return: as weir__pace_begin(). */
uint64_t weir__pace_turn(struct weir_pace *p, uint64_t began);

/* Before a filter is published: leave no debt that is worth a sleep. Work since the last turn, such
 * as the caller's check in a gate, is not counted. */
void weir__pace_settle(struct weir_pace *p);

/* The pace of a verb that calls progress between its pieces. */
struct weir_turns {
	struct weir_pace *pace;
	uint64_t began;
};

static inline struct weir_turns weir__pace_turns(struct weir_pace *p)
{
	return (struct weir_turns){ p, weir__pace_begin(p) };
}
/* The progress function of that verb: it stops nothing. @turns: struct weir_turns. */
int weir__pace_progress(void *turns, uint64_t done, uint64_t total);

/* The part of weir__pace_single_begin() for a timed call. */
uint64_t weir__pace_single_timed(struct weir_pace *p);

/* When a call for one key begins (P5); 0: this call is not timed. */
static inline uint64_t weir__pace_single_begin(struct weir_pace *p)
{
	if (__builtin_expect(!p->asked, 1) ||
	    weir__figure_add_relaxed(&p->singles, 1) % WEIR__PACE_SINGLES)
		return 0;
	return weir__pace_single_timed(p);
}
/* When it ends: it stands for the calls that were not timed. */
void weir__pace_single_end(struct weir_pace *p, uint64_t began);

/* Touch the pages of a private filter, piece by piece, so that neither inserters nor lookups fault
 * on them later. A no-op without a pace.
 * @progress: called after each piece, and may stop it (P3).  Return: as weir__progress(). */
int weir__pace_touch(const struct weir_pace *p, const struct weir_filter *f,
                     weir_progress_fn *progress, void *progress_arg);

/* Read a filter just published once through, if it may fit a cache that cores share: a slow
 * loader's writes left that cache long ago. Lookups then find the lines there, and the evicted
 * lines are the old filter's. A no-op without a pace. */
void weir__pace_warm(const struct weir_pace *p, const struct weir_filter *f);

#endif
