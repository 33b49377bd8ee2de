/* SPDX-License-Identifier: MIT
 * Milliseconds of a clock that nobody sets, and what is due by it. */
#ifndef WEIR_REPLICA_CLOCK_H
#define WEIR_REPLICA_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

struct weir_due {
	uint64_t at; /* 0: at once */
};

static inline uint64_t weir__now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static inline bool weir__is_due(const struct weir_due *d, uint64_t now)
{
	return now >= d->at;
}

/* Some milliseconds more, up to @most: nodes that begin together do not stay together. */
static inline uint64_t weir__jitter(uint64_t most)
{
	static _Thread_local unsigned seed;
	if (!seed)
		seed = (unsigned)(uintptr_t)&seed ^ (unsigned)weir__now_ms();
	return (uint64_t)rand_r(&seed) % (most + 1);
}

static inline void weir__due_after(struct weir_due *d, uint64_t now, uint64_t ms)
{
	d->at = now + ms + weir__jitter(ms / 4);
}

#endif
