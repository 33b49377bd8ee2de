/* SPDX-License-Identifier: MIT
 * The processors that a test may use. */
#ifndef WEIR_TESTS_CPUS_H
#define WEIR_TESTS_CPUS_H

#include <sched.h>

/* The nth of them alone, begun anew behind the last; @all is not empty. */
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

#endif
