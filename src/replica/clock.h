/* SPDX-License-Identifier: MIT
 * Milliseconds of a clock that nobody sets. */
#ifndef WEIR_REPLICA_CLOCK_H
#define WEIR_REPLICA_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t weir__now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

#endif
