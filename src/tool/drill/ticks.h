/* SPDX-License-Identifier: MIT
 * Times of some nanoseconds: a clock, which is the processor's own counter where it runs evenly,
 * else clock_gettime(); and a histogram. */
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

/* ---- a histogram: exact below 128 ticks, above that 64 classes for each doubling ---- */

enum { HISTOGRAM_SUB_BITS = 6,
       HISTOGRAM_CLASSES = (64 - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS };

/* Start from zeros. */
struct histogram {
	uint64_t total, most; /* how many values; the largest, exact */
	uint64_t counts[HISTOGRAM_CLASSES];
};

void histogram_add(struct histogram *h, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);
/* The quantile @q (0 to 1): the middle of its class. 0 if there are no values. */
double histogram_quantile(const struct histogram *h, double q);

#endif
