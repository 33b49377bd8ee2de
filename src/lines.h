/* SPDX-License-Identifier: MIT
 * A filter's array is lines of 64 bytes, cut into shards: a power of two of equal runs of at least
 * 1024 lines, at most 65536 of them. */
#ifndef WEIR_SRC_LINES_H
#define WEIR_SRC_LINES_H

#include <stdint.h>

/* Lines for @bits bits, rounded up so that the shards divide them (by at most 0.1 %); the shards
 * through @shards. */
uint64_t weir__lines(double bits, uint32_t *shards);
/* The same, rounded down: lines and shards that fit in @bytes, at least 64. */
uint64_t weir__lines_within(uint64_t bytes, uint32_t *shards);

#endif
