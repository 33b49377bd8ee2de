/* SPDX-License-Identifier: MIT
 * The processors that a test may use. */
#ifndef WEIR_TESTS_CPUS_H
#define WEIR_TESTS_CPUS_H

#include "test.h"
#include <sched.h>

/* Return: the nth processor of @all, which must not be empty. @nth wraps around. */
static inline cpu_set_t nth_cpu(const cpu_set_t *all, unsigned nth)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	nth %= (unsigned)CPU_COUNT(all);
	for (unsigned cpu = 0, seen = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, all) && seen++ == nth)
			CPU_SET(cpu, &one);
	return one;
}

/* Bind the calling thread to one processor. @all: receives the thread's former processors, for
 * on_cpus(). */
static inline void on_one_cpu(cpu_set_t *all)
{
	assert_int_equal(sched_getaffinity(0, sizeof *all, all), 0);
	const cpu_set_t one = nth_cpu(all, 0);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

static inline void on_cpus(const cpu_set_t *all)
{
	assert_int_equal(sched_setaffinity(0, sizeof *all, all), 0);
}

#endif
