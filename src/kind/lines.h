/* SPDX-License-Identifier: MIT
 * A filter's array is lines of 64 bytes, cut into shards. Shards are equal runs of lines. Their
 * number is a power of two up to 65536; if there are two or more, each has at least 1024 lines. */
#ifndef WEIR_SRC_KIND_LINES_H
#define WEIR_SRC_KIND_LINES_H

#include <stdint.h>

#define WEIR__MOST_SHARDS 65536
#define WEIR__SHARD_LINES 1024

/* The lines that hold @bits bits, rounded up (by at most 0.4 % if shards are chosen) to a multiple
 * of the shards, each of whole blocks.
 * @block: lines of a block, 1 to 4.  @wanted: shards, or 0 to have them chosen.
 * @shards: receives their number. */
uint64_t weir__lines(double bits, uint32_t block, uint32_t wanted, uint32_t *shards);
/* The lines that fit in @bytes, at least 64, rounded down likewise. 0: not even a block for each of
 * the shards wanted. */
uint64_t weir__lines_within(uint64_t bytes, uint32_t block, uint32_t wanted, uint32_t *shards);

#endif
