/* SPDX-License-Identifier: MIT
 * The split kind: the split-block filter of Parquet, bit for bit.
 *
 * Parquet's specification freezes the layout. The array is `blocks` blocks of 32 bytes, two to a
 * line; if the number is odd, the last half line is zero. A block is eight 32-bit words,
 * little-endian, so its bytes are those of a file. A key sets one bit in each word:
 *
 *     h         = XXH64(key, len, seed 0)
 *     block     = (h >> 32) * blocks >> 32
 *     bit of word i = (low 32 bits of h) * salt[i] >> 27        (modulo 2^32)
 *
 * The code accesses a block as four 64-bit words of two 32-bit words each ([BITS-ONLY-SET],
 * [WORD-ATOMIC], [LITTLE-ENDIAN]). Source: Apple 2021 (split block Bloom filters); Putze, Sanders,
 * Singler 2007; BloomFilter.md of the Parquet format. */
#ifndef WEIR_SRC_KINDS_SPLIT_SPLIT_H
#define WEIR_SRC_KINDS_SPLIT_SPLIT_H

#include "config.h"
#include "kind/kind.h"
#include "kinds/common/sector_rate.h"

/* Index in a shape of this kind. */
enum { WEIR_SPLIT_BLOCKS };

enum {
	WEIR_SPLIT_BLOCK = 32,    /* bytes in a block */
	WEIR_SPLIT_WORDS = 4,     /* 64-bit words in a block */
	WEIR_SPLIT_MOST = 1 << 28,   /* the most blocks. 32 bits of a hash choose a block, so
	                                at least 16 of their values lead to each block */
	WEIR_SPLIT_STRICT = 1 << 27, /* the bytes of the largest array that every reader accepts */
};

#define WEIR_SPLIT_SALTS \
	{ 0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, \
	  0x5c6bfb31 }

static inline uint64_t weir__split_lines(uint64_t blocks)
{
	return blocks / 2 + blocks % 2;
}

/* Kernels for each instruction set: [0] for an even number of blocks, [1] for an odd number. */
extern const struct weir_kernel weir__split_scalar[2];
extern const struct weir_kernel weir__split_avx2[2];
extern const struct weir_kernel weir__split_avx512[2];
extern const struct weir_kernel weir__split_neon[2];

#endif
