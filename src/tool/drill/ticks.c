/* SPDX-License-Identifier: MIT
 * See ticks.h. */
#include "output/progress.h"
#include "ticks.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

struct ticks ticks;

/* Return: true if RDTSCP exists and the time stamp counter runs at a constant rate in every power
 * state of the CPU. */
static bool counter_rate_is_constant(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;
	if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(d >> 27 & 1))
		return false;
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
#else
	return false;
#endif
}

void ticks_start(void)
{
	static struct histogram h;
	ticks.counter = counter_rate_is_constant();
	uint64_t last = ticks_now();
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t now = ticks_now();
		histogram_add(&h, ticks_between(last, now));
		last = now;
	}
	ticks.cost = (uint64_t)histogram_quantile(&h, 0.5);
	ticks.began = ticks_now();
	ticks.began_seconds = seconds_now();
}

double ticks_ns(void)
{
	if (!ticks.counter)
		return 1.0;
	double seconds = seconds_now() - ticks.began_seconds;
	return seconds * 1e9 / (double)ticks_between(ticks.began, ticks_now());
}
