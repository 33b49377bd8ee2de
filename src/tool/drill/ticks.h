/* SPDX-License-Identifier: MIT
 * A clock and a histogram for durations of a few nanoseconds. The clock is the processor's time
 * stamp counter if the counter has a constant rate and the processor has the instruction RDTSCP.
 * Otherwise the clock is clock_gettime(). */
#ifndef WEIR_TOOL_TICKS_H
#define WEIR_TOOL_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* Set by ticks_start(), and constant afterwards. */
struct ticks {
	bool counter;         /* the clock is the time stamp counter */
	/* median number of ticks between two consecutive readings of the clock, which is subtracted
	 * from each measured duration */
	uint64_t cost;
	uint64_t began;       /* the first reading, to find the counter's rate */
	double began_seconds;
};
extern struct ticks ticks;

/* Call before any ticks_now(). */
void ticks_start(void);
/* Return: nanoseconds per tick, on average since ticks_start(). The more time has passed since that
 * call, the more exact is the result. */
double ticks_ns(void);

/* Return: the time in ticks. RDTSCP reads the counter after all earlier instructions have
 * executed. */
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

/* Return: @now - @before, or 0 if the difference is negative, since the counters of two cores may
 * differ a little. */
static inline uint64_t ticks_between(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

/* ---- a histogram: a class for each value below 128, 64 classes for each doubling above ---- */

enum { HISTOGRAM_SUB_BITS = 6,
       HISTOGRAM_CLASSES = (64 - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS };

/* Start from { 0 }. */
struct histogram {
	uint64_t total, most; /* @total: number of values; @most: exact largest value */
	uint64_t counts[HISTOGRAM_CLASSES];
};

void histogram_add(struct histogram *h, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);
/* Return: the quantile @q (0 to 1), rounded to the middle of the class that contains it, but at
 * most the largest value; 0 without values. */
double histogram_quantile(const struct histogram *h, double q);

#endif
