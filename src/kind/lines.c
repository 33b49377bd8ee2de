/* SPDX-License-Identifier: MIT
 * The lines and shards for a number of bits, or within a number of bytes. */
#include <math.h>
#include "kind/lines.h"

enum { LINE_BITS = 512 };

/* As many as wanted; else the most that have enough lines each. */
static uint32_t shards_of(uint64_t lines, uint32_t wanted)
{
	uint32_t shards = 1;
	while (shards < WEIR__MOST_SHARDS && lines / WEIR__SHARD_LINES >= 2 * (uint64_t)shards)
		shards *= 2;
	return wanted ? wanted : shards;
}

uint64_t weir__lines(double bits, uint32_t block, uint32_t wanted, uint32_t *shards)
{
	uint64_t lines = bits > LINE_BITS ? (uint64_t)ceil(bits / LINE_BITS) : 1;
	uint64_t count = (uint64_t)block * shards_of(lines, wanted);
	lines = (lines + count - 1) / count * count;
	*shards = shards_of(lines, wanted); /* rounding up may have reached the next power of two */
	return lines;
}

uint64_t weir__lines_within(uint64_t bytes, uint32_t block, uint32_t wanted, uint32_t *shards)
{
	uint64_t lines = bytes / (LINE_BITS / 8);
	*shards = shards_of(lines, wanted);
	return lines - lines % ((uint64_t)block * *shards);
}
