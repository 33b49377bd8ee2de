/* SPDX-License-Identifier: MIT
 * Simulated clocks for tests of pace. Each read of the thread's CPU clock advances that clock by
 * STEP. A sleep ends at once. It advances the monotonic clock by the time slept, and the CPU clock
 * by AWAKE. Link with --wrap of clock_gettime and clock_nanosleep. */
#ifndef WEIR_TESTS_PACED_H
#define WEIR_TESTS_PACED_H

#include <errno.h>
#include <math.h>
#include <time.h>
#include "handles.h"

enum {
	CAPACITY = 4000000, /* keys: their filter has 5 MiB, so the library counts and merges
	                       its bits piece by piece */
	STEP = 300000,      /* ns */
	LONG = 5,           /* the long read (fake.long_look) adds LONG * STEP */
	BURST = 2000000,    /* ns of work between sleeps */
	AWAKE = 40000,      /* ns of CPU that a sleep takes */
	LEAST = 500000,     /* ns: the shortest sleep */
	PUT_OFF = 100000000, /* ns: the longest sleep that the library may postpone */
	MOST = 20000000,    /* ns: the longest sleep; the library splits longer sleeps */
};

static struct {
	uint64_t cpu,       /* ns: the thread's CPU clock */
	         time;      /* ns: the monotonic clock */
	uint64_t looks;     /* number of reads of the CPU clock */
	uint64_t long_look; /* number of the long read; 0: none */
	uint64_t slept;     /* ns: the sum of all sleeps */
	unsigned sleeps;
	bool interrupted;   /* the last sleep was interrupted, so the next one completes it */
	const struct flavor *flavor;
} fake;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	uint64_t *of = clock == CLOCK_THREAD_CPUTIME_ID ? &fake.cpu : &fake.time;
	if (clock == CLOCK_REALTIME)
		return __real_clock_gettime(clock, t);
	fake.looks += clock == CLOCK_THREAD_CPUTIME_ID;
	if (clock == CLOCK_THREAD_CPUTIME_ID)
		*of += fake.looks == fake.long_look ? LONG * STEP : STEP;
	*t = (struct timespec){ (time_t)(*of / 1000000000), (long)(*of % 1000000000) };
	return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                           struct timespec *left);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                           struct timespec *left)
{
	uint64_t to = (uint64_t)until->tv_sec * 1000000000 + (uint64_t)until->tv_nsec;
	int cancel;
	assert_int_equal(clock, CLOCK_MONOTONIC);
	assert_int_equal(flags, TIMER_ABSTIME);
	assert_null(left);
	assert_in_range(to, fake.time + (fake.interrupted ? LEAST / 2 : LEAST), fake.time + MOST);
	assert_int_equal(fake.flavor->rcu->read_ongoing(), 0); /* [PACE-NO-SECTION] */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	assert_int_equal(cancel, PTHREAD_CANCEL_DISABLE); /* [PACE-NO-CANCEL] */
	fake.interrupted = !fake.interrupted && fake.sleeps % 3 == 1;
	uint64_t ns = fake.interrupted ? (to - fake.time) / 2 : to - fake.time;
	fake.time += ns;
	fake.slept += ns;
	fake.sleeps += !fake.interrupted;
	fake.cpu += AWAKE; /* [PACE-SLEEP-FREE] */
	return fake.interrupted ? EINTR : 0;
}

static inline void start(const struct flavor *flavor)
{
	memset(&fake, 0, sizeof fake);
	fake.time = 1000000000;
	fake.flavor = flavor;
}

/* Check that the thread has slept as long as @pace demands after @turns steps of work, or at most
 * @put_off ns less. */
static inline void assert_rested_but(double pace, double turns, double put_off)
{
	double slept = (double)fake.slept, due = turns * STEP * (1 / pace - 1);
	if (slept > due + 1000 || slept < due - put_off - 1000)
		fail_msg("pace %g: slept %.3f ms, where %.3f were due", pace,
		         slept / 1e6, due / 1e6);
}

/* Check that the thread has slept as @pace asks, less the sleep that a burst may postpone. */
static inline void assert_rested(double pace, double turns)
{
	assert_rested_but(pace, turns, fmin(fmax(LEAST, BURST * (1 / pace - 1)), PUT_OFF));
}

static inline double pieces(uint64_t n, uint64_t piece)
{
	return ceil((double)n / (double)piece);
}

#endif
