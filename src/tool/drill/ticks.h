/* SPDX-License-Identifier: MIT
 * A clock for times of some nanoseconds: the processor's own counter where it runs evenly, else
 * clock_gettime(). */
#ifndef WEIR_TOOL_TICKS_H
#define WEIR_TOOL_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* Set by ticks_start(), read by all. */
struct ticks {
	bool counter;         /* the processor's */
	/* what two readings in a row differ by: the clock's own share of what it measures */
	uint64_t cost;
	uint64_t began;       /* to find the counter's rate */
	double began_seconds;
};
extern struct ticks ticks;

/* Before any ticks_now(). */
void ticks_start(void);
/* Nanoseconds a tick, from ticks_start() to now: the longer that is, the more exact. */
double ticks_ns(void);

/* The time now. What was begun before has ended by then: the counter is read by an instruction
 * that waits for that. */
static inline uint64_t ticks_now(void)
{
#if defined(__x86_64__)
	unsigned cpu;
	if (__builtin_expect(ticks.counter, 1))
		return __rdtscp(&cpu);
#endif
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* @now - @before, never less than nothing: two cores' counters may differ a little. */
static inline uint64_t ticks_between(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

#endif
