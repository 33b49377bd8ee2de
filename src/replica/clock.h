/* SPDX-License-Identifier: MIT
 * Milliseconds: of a clock that nobody sets, and since 1970. */
#ifndef WEIR_REPLICA_CLOCK_H
#define WEIR_REPLICA_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t weir__ms_of(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static inline uint64_t weir__now_ms(void)
{
	return weir__ms_of(CLOCK_MONOTONIC);
}

static inline uint64_t weir__since_1970_ms(void)
{
	return weir__ms_of(CLOCK_REALTIME);
}

#endif
