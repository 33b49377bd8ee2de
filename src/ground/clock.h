/* SPDX-License-Identifier: MIT
 * Time, as the library reads it. */
#ifndef WEIR_SRC_GROUND_CLOCK_H
#define WEIR_SRC_GROUND_CLOCK_H

#include <stdint.h>
#include <time.h>

/* ns of a clock. */
static inline uint64_t weir__clock(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* Of CLOCK_MONOTONIC. */
static inline double weir__seconds(void)
{
	return (double)weir__clock(CLOCK_MONOTONIC) * 1e-9;
}

#endif
