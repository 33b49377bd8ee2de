/* SPDX-License-Identifier: MIT
 * The split kind for any machine. */
#include "kinds/split/split.h"

WEIR__INLINE void split_masks(uint64_t hash, uint64_t out[WEIR_SPLIT_WORDS])
{
	static const uint32_t salts[2 * WEIR_SPLIT_WORDS] = WEIR_SPLIT_SALTS;
	const uint32_t low = (uint32_t)hash;
	WEIR__UNROLL
	for (unsigned i = 0; i < WEIR_SPLIT_WORDS; i++)
		out[i] = UINT64_C(1) << (low * salts[2 * i] >> 27) |
		         UINT64_C(1) << 32 << (low * salts[2 * i + 1] >> 27);
}

WEIR__INLINE bool split_holds(const uint64_t *block, uint64_t hash)
{
	uint64_t bits[WEIR_SPLIT_WORDS], missing = 0;
	split_masks(hash, bits);
	WEIR__UNROLL
	for (unsigned i = 0; i < WEIR_SPLIT_WORDS; i++)
		missing |= bits[i] & ~weir__word_load_relaxed(block + i);
	return missing == 0;
}

#define KERNEL_ISA WEIR_ISA_SCALAR
#define KERNEL_TABLE weir__split_scalar
#include "kinds/split/kernel.h"
