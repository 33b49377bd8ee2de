/* SPDX-License-Identifier: MIT
 * The split kind for NEON: a block is two vectors. */
#include <arm_neon.h>
#include "kinds/split/split.h"

/* The bits of a key in words 4 * half to 4 * half + 3. */
WEIR__INLINE uint32x4_t split_mask(uint64_t hash, unsigned half)
{
	static const uint32_t salts[8] = WEIR_SPLIT_SALTS;
	const uint32x4_t product = vmulq_n_u32(vld1q_u32(salts + 4 * half), (uint32_t)hash);
	return vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(vshrq_n_u32(product, 27)));
}

WEIR__INLINE void split_masks(uint64_t hash, uint64_t out[WEIR_SPLIT_WORDS])
{
	vst1q_u64(out, vreinterpretq_u64_u32(split_mask(hash, 0)));
	vst1q_u64(out + 2, vreinterpretq_u64_u32(split_mask(hash, 1)));
}

WEIR__INLINE bool split_holds(const uint64_t *block, uint64_t hash)
{
	const uint32x4_t low = vreinterpretq_u32_u64(vld1q_u64(block)),
			 high = vreinterpretq_u32_u64(vld1q_u64(block + 2));
	const uint32x4_t missing = vorrq_u32(vbicq_u32(split_mask(hash, 0), low),
	                                     vbicq_u32(split_mask(hash, 1), high));
	return vmaxvq_u32(missing) == 0;
}

#define KERNEL_ISA WEIR_ISA_NEON
#define KERNEL_TABLE weir__split_neon
#include "kinds/split/kernel.h"
