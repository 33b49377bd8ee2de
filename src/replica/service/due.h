/* SPDX-License-Identifier: MIT
 * What is due by the clock. */
#ifndef WEIR_REPLICA_DUE_H
#define WEIR_REPLICA_DUE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include "../clock.h"

struct weir_due {
	uint64_t at; /* 0: at once */
};

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

static inline void weir__due_now(struct weir_due *d)
{
	d->at = 0;
}

/* Again after @ms, up to a quarter more. */
static inline void weir__due_after(struct weir_due *d, uint64_t now, uint64_t ms)
{
	d->at = now + ms + weir__jitter(ms / 4);
}

#endif
