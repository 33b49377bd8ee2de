/* SPDX-License-Identifier: MIT
 * Limits a loader to a share of a core. The loader works in pieces. The CPU time of each piece adds
 * to a debt of sleep, and the loader sleeps between pieces. If a call or a thread leaves debt, the
 * next call of any loader thread sleeps it off, and the commit sleeps off the rest.
 *
 * [PACE-NO-SECTION]  No thread sleeps in a read-side section, since every grace period of the
 *    flavor would wait. A thread in a section leaves its debt. For the same reason a thread with
 *    qsbr sleeps offline.
 * [PACE-NO-CANCEL]  A thread is not cancelled while it sleeps. So functions without a cancellation
 *    point get none, and with qsbr no thread ends offline ([NO-CANCELLATION] in generation.h).
 * [PACE-SHORT-SLEEPS]  A long sleep is cut into sleeps of at most 20 ms. Between them a refresh
 *    calls the caller's progress function, which may stop the refresh.
 * [PACE-SLEEP-FREE]  The CPU time for falling asleep and waking up is not counted as work. This
 *    time is some 20 us. With the smallest pace, 20 us of work add 20 ms of debt, which is one more
 *    sleep. So a loader that counted this time would never end.
 * [PACE-SAMPLED]  Of the calls with one key, one in WEIR__PACE_SINGLES is timed and counts for all.
 *    But a read of the clock may take longer than the call that it times. So each timed call first
 *    measures the cost of reading the clock, by two reads with nothing in between. This cost is
 *    subtracted from the call's time, and added to the debt only once for each read. */
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
	atomic_uint_fast64_t owed;    /* nanoseconds of sleep not slept yet */
	atomic_uint_fast64_t singles; /* number of calls with one key */
};

enum {
	WEIR__PACE_PIECE = 2048, /* keys in a piece */
	WEIR__PACE_SINGLES = 256, /* of the calls with one key, one in this many is timed */
};

/* @share: the pace in the caller's options. Return: 0 or -EINVAL. */
int weir__pace_check(double share);
/* @share: after weir__pace_check().  @rcu: must live as long as @p. */
void weir__pace_make(struct weir_pace *p, const struct weir_rcu *rcu, double share);

/* Start measuring work. Return: the CPU time of this thread in ns; 0 if work is not measured. */
uint64_t weir__pace_begin(const struct weir_pace *p);
/* Add the work since @began, multiplied by @times, to the debt.
 * Return: the current CPU time, for the next work; 0 if @began is 0. */
uint64_t weir__pace_note(struct weir_pace *p, uint64_t began, unsigned times);
/* Sleep off a part of the debt, at most 20 ms.
 * @goes_on: the previous part was slept off just now, so also sleep off a small debt.
 * Return: true if there is more debt to sleep off now. */
bool weir__pace_rest(struct weir_pace *p, bool goes_on);

/* Add the work since @began to the debt, and sleep off the debt. Return: as weir__pace_begin(). */
uint64_t weir__pace_turn(struct weir_pace *p, uint64_t began);

/* Before a filter is published, sleep off all debt that is worth a sleep. This call adds no work to
 * the debt, so work such as the caller's check in a gate is not counted. */
void weir__pace_settle(struct weir_pace *p);

/* The pace of a function that calls progress between its pieces. */
struct weir_turns {
	struct weir_pace *pace;
	uint64_t began;
};

static inline struct weir_turns weir__pace_turns(struct weir_pace *p)
{
	return (struct weir_turns){ p, weir__pace_begin(p) };
}
/* A progress function that keeps the pace and stops nothing. @turns: struct weir_turns. */
int weir__pace_progress(void *turns, uint64_t done, uint64_t total);

/* The slow path of weir__pace_single_begin(), for a timed call. */
uint64_t weir__pace_single_timed(struct weir_pace *p);

/* Call this before an insert of one key ([PACE-SAMPLED]). Return: the start time; 0: the call is
 * not timed. */
static inline uint64_t weir__pace_single_begin(struct weir_pace *p)
{
	if (__builtin_expect(!p->asked, 1) ||
	    weir__figure_add_relaxed(&p->singles, 1) % WEIR__PACE_SINGLES)
		return 0;
	return weir__pace_single_timed(p);
}
/* Call this after an insert of one key. A timed call counts for the calls that were not timed. */
void weir__pace_single_end(struct weir_pace *p, uint64_t began);

/* Touch the pages of a private filter in pieces, so that later inserts and lookups do not fault on
 * them. A no-op without a pace. @progress: called after each piece; a nonzero result ends the call.
 * Return: as weir__progress(). */
int weir__pace_touch(const struct weir_pace *p, const struct weir_filter *f,
                     weir_progress_fn *progress, void *progress_arg);

/* Read a filter that was just published, if it may fit into a cache that cores share. That cache
 * has evicted most lines that a slow loader wrote. After this read, lookups find the filter's lines
 * in the cache, in place of lines of the old filter. A no-op without a pace. */
void weir__pace_warm(const struct weir_pace *p, const struct weir_filter *f);

#endif
