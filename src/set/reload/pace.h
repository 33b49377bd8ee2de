/* SPDX-License-Identifier: MIT
 * A loader that takes a share of a core: it works in pieces, the CPU time of each is noted as a
 * debt of sleep, and the debt is slept off between two pieces. What is left over by one call, or by
 * one of several loader threads, is slept off by the next, at last by the commit.
 *
 * P1  Nobody sleeps in a read-side section: every grace period of the flavor would wait. A thread
 *     that is in one leaves its debt. With qsbr it sleeps offline, for the same reason.
 * P2  A thread is not cancelled while it sleeps: verbs that were no cancellation points stay none,
 *     and with qsbr it would end offline (H6 in generation.h).
 * P3  Long sleeps are cut, so that whoever may be stopped (progress.h) is asked in between.
 * P4  What sleeping itself takes of the CPU is no work. Some 20 us a sleep would otherwise be a
 *     debt of 20 ms with the smallest pace, which is the next sleep: a loader would never end.
 * P5  Where the call for one key that is timed stands for many, a look at the clock must not: it
 *     is ten times as dear as the call. So it is measured each time, right before the call, by two
 *     looks with nothing in between, taken off the call's time, and counted for itself. */
#ifndef WEIR_SRC_PACE_H
#define WEIR_SRC_PACE_H

#include "filter/filter.h"
#include "ground/atomic.h"
#include "rcu/rcu.h"

struct weir_pace {
	const struct weir_rcu *rcu;
	double rest;                  /* seconds of sleep for each of work */
	uint64_t least;               /* nanoseconds of sleep to begin with */
	bool asked;                   /* false: there is no pace */
	atomic_uint_fast64_t owed;    /* nanoseconds of sleep */
	atomic_uint_fast64_t singles; /* calls for one key */
};

enum {
	WEIR__PACE_PIECE = 2048, /* keys at a time */
	WEIR__PACE_SINGLES = 256, /* of so many calls for one key, one is timed */
};

/* @share: pace of the caller's options. Return: 0, or -EINVAL with the sentence. */
int weir__pace_check(double share);
/* @share: checked.  @rcu: must live as long as @p. */
void weir__pace_make(struct weir_pace *p, const struct weir_rcu *rcu, double share);

/* When work begins: the CPU time of this thread. Return: nanoseconds; 0 if none is measured. */
uint64_t weir__pace_begin(const struct weir_pace *p);
/* Note the work done since then, @times over.
 * Return: when what follows begins; 0 if @began is. */
uint64_t weir__pace_note(struct weir_pace *p, uint64_t began, unsigned times);
/* Sleep off a part of the debt that lasts 20 ms at most.
 * @goes_on: a part of it was slept off just now; else it is left while it is small.
 * Return: whether some is left to go on with. */
bool weir__pace_rest(struct weir_pace *p, bool goes_on);

/* All three: note the work, and sleep off the debt. Return: as weir__pace_begin(). */
uint64_t weir__pace_turn(struct weir_pace *p, uint64_t began);

/* Before a filter is published: leave no debt that is worth a sleep. What was done since the last
 * turn, such as the caller's check in a gate, is not counted. */
void weir__pace_settle(struct weir_pace *p);

/* The turns of a verb that calls progress between its pieces. */
struct weir_turns {
	struct weir_pace *pace;
	uint64_t began;
};

static inline struct weir_turns weir__pace_turns(struct weir_pace *p)
{
	return (struct weir_turns){ p, weir__pace_begin(p) };
}
/* Of that verb: a weir_progress_fn that stops nothing. @turns: struct weir_turns. */
int weir__pace_progress(void *turns, uint64_t done, uint64_t total);

/* Of weir__pace_single_begin(), of a call that is timed. */
uint64_t weir__pace_single_timed(struct weir_pace *p);

/* When a call for one key begins (P5); 0: this one is not timed. */
static inline uint64_t weir__pace_single_begin(struct weir_pace *p)
{
	if (__builtin_expect(!p->asked, 1) ||
	    weir__figure_add_relaxed(&p->singles, 1) % WEIR__PACE_SINGLES)
		return 0;
	return weir__pace_single_timed(p);
}
/* And ends: it stands for those that were not timed. */
void weir__pace_single_end(struct weir_pace *p, uint64_t began);

/* Have the pages of a filter that nobody else has yet, piece by piece: neither inserters nor
 * lookups fault on them later. Without a pace nothing is done.
 * @progress: called after each piece, and may stop it (P3).  Return: as weir__progress(). */
int weir__pace_touch(const struct weir_pace *p, const struct weir_filter *f,
                     weir_progress_fn *progress, void *progress_arg);

/* Read a filter that has just been published once through, if a cache that cores share may have
 * room for it: what a slow loader wrote has left that long ago. Lookups then find the lines there,
 * and those that give way are of the filter before. Without a pace nothing is done. */
void weir__pace_warm(const struct weir_pace *p, const struct weir_filter *f);

#endif
