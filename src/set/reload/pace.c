/* SPDX-License-Identifier: MIT
 * Alternates work and sleep. CLOCK_THREAD_CPUTIME_ID measures work, since a loader that waits for
 * the disk or for its CPU takes nothing from other threads. CLOCK_MONOTONIC measures sleep. */
#include <math.h>
#include "ground/error.h"
#include "ground/system.h"
#include "ground/threads.h"
#include "set/reload/pace.h"

static const double least_share = 0.001;

enum {
	NS = 1000000000,
	BURST = 2000000,       /* ns of work between sleeps: a sleep makes caches cold */
	LEAST_SLEEP = 500000,  /* ns: shorter sleeps are mostly the timer's slack */
	PUT_OFF = 100000000,   /* ns: the most debt left to the commit, which cannot be stopped */
	MOST_SLEEP = 20000000, /* ns of one sleep ([PACE-SHORT-SLEEPS]) */
	TOUCHED = 2 << 20,     /* bytes that weir__pace_touch() touches at a time: a huge page */
	WARMED = 32 << 20,     /* bytes: weir__pace_warm() reads no larger filter */
};

int weir__pace_check(double share)
{
	if (share == 0 || (share >= least_share && share <= 1))
		return 0;
	return weir__fail(-EINVAL, "pace %g: the share of a core that the loader may take: %g to "
	                           "1, or 0 to load as fast as it can", share, least_share);
}

void weir__pace_make(struct weir_pace *p, const struct weir_rcu *rcu, double share)
{
	double rest = share > 0 ? 1 / share - 1 : 0;
	*p = (struct weir_pace){ .rcu = rcu,
		                 .rest = rest,
		                 .least = (uint64_t)fmin(fmax(LEAST_SLEEP, BURST * rest), PUT_OFF),
		                 .asked = share > 0 };
}

uint64_t weir__pace_begin(const struct weir_pace *p)
{
	return p->rest > 0 ? weir__clock(CLOCK_THREAD_CPUTIME_ID) : 0;
}

static void add_debt(struct weir_pace *p, uint64_t work, unsigned times)
{
	weir__figure_add_relaxed(&p->owed, (uint64_t)((double)work * times * p->rest));
}

uint64_t weir__pace_note(struct weir_pace *p, uint64_t began, unsigned times)
{
	if (!began)
		return 0;
	const uint64_t ends = weir__clock(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t work = ends > began ? ends - began : 0;
	add_debt(p, work, times);
	return ends;
}

/* Take a part of the debt, which the caller sleeps off. Return: the part in nanoseconds; 0 if the
 * debt is below @least. */
static uint64_t take_debt(struct weir_pace *p, uint64_t least)
{
	uint64_t owed = weir__figure_load_relaxed(&p->owed), part;
	do {
		if (owed < least)
			return 0;
		part = owed < MOST_SLEEP ? owed : MOST_SLEEP;
	} while (!weir__figure_swap_relaxed(&p->owed, &owed, owed - part));
	return part;
}

static void sleep_for(uint64_t ns)
{
	WEIR__UNCANCELLED; /* [PACE-NO-CANCEL] */
	uint64_t until = weir__clock(CLOCK_MONOTONIC) + ns;
	struct timespec t = { .tv_sec = (time_t)(until / NS), .tv_nsec = (long)(until % NS) };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* Sleep off a part of the debt. Return: false if it did not sleep, since the debt is too small or
 * the thread is in a section. */
static bool rest_once(struct weir_pace *p, bool goes_on)
{
	uint64_t least = goes_on ? LEAST_SLEEP : p->least;
	/* [PACE-NO-SECTION] */
	uint64_t part = p->asked && !weir__in_section(p->rcu) ? take_debt(p, least) : 0;
	if (!part)
		return false;
	const struct rcu_flavor_struct *flavor = p->rcu->flavor;
	bool online = flavor->read_ongoing();
	if (online)
		flavor->thread_offline();
	sleep_for(part);
	if (online)
		flavor->thread_online();
	return true;
}

bool weir__pace_rest(struct weir_pace *p, bool goes_on)
{
	return rest_once(p, goes_on) && weir__figure_load_relaxed(&p->owed) >= LEAST_SLEEP;
}

/* Sleep off all debt that is worth a sleep. Return: true if it slept. */
static bool rest(struct weir_pace *p, bool goes_on)
{
	bool slept = false;
	while (rest_once(p, goes_on))
		slept = goes_on = true;
	return slept;
}

uint64_t weir__pace_turn(struct weir_pace *p, uint64_t began)
{
	uint64_t next = weir__pace_note(p, began, 1);
	return rest(p, false) ? weir__pace_begin(p) : next; /* [PACE-SLEEP-FREE] */
}

void weir__pace_settle(struct weir_pace *p)
{
	rest(p, true);
}

int weir__pace_progress(void *turns, uint64_t done, uint64_t total)
{
	struct weir_turns *t = turns;
	(void)done, (void)total;
	t->began = weir__pace_turn(t->pace, t->began);
	return 0;
}

/* [PACE-SAMPLED]: measure the time of one clock read, and add three reads to the debt: the two
 * reads here, and the read at the end of the call. The start time is one read later than the second
 * read, so that the call's time does not contain the read at its end. */
uint64_t weir__pace_single_timed(struct weir_pace *p)
{
	uint64_t first = weir__pace_begin(p), second = weir__pace_begin(p), ns = second - first;
	add_debt(p, ns, 3);
	return second + ns;
}

void weir__pace_single_end(struct weir_pace *p, uint64_t began)
{
	if (!began)
		return;
	(void)weir__pace_note(p, began, WEIR__PACE_SINGLES);
	rest(p, false);
}

int weir__pace_touch(const struct weir_pace *p, const struct weir_filter *f,
                     weir_progress_fn *progress, void *progress_arg)
{
	int err = 0;
	for (uint64_t at = 0, n; !err && p->asked && at < f->bytes; at += n) {
		n = f->bytes - at < TOUCHED ? f->bytes - at : TOUCHED;
		weir__memory_touch(&f->memory, at, n);
		err = weir__progress(progress, progress_arg, at + n, f->bytes, "bytes");
	}
	return err;
}

void weir__pace_warm(const struct weir_pace *p, const struct weir_filter *f)
{
	for (uint64_t line = 0; p->asked && f->bytes <= WARMED && line < f->array.lines; line++)
		(void)weir__word_load_relaxed(f->array.words + 8 * line);
}
