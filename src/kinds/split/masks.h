/* SPDX-License-Identifier: MIT
 * The bits of a key in its block of the split kind, for one instruction set (ground/system.h).
 *   split_masks(hash, out)    writes these bits in the form of the block's four words,
 *   split_holds(block, hash)  returns true if all of them are set. */
#ifndef WEIR_SRC_KINDS_SPLIT_MASKS_H
#define WEIR_SRC_KINDS_SPLIT_MASKS_H

#include "ground/system.h"
#include "kinds/split/split.h"

#if defined(WEIR_KERNEL_AVX2) || defined(WEIR_KERNEL_AVX512)

/* A block is one vector of AVX2, and half a vector of AVX-512. */
#include <immintrin.h>

WEIR__INLINE __m256i split_mask(uint64_t hash)
{
	static const uint32_t salts[8] __attribute__((aligned(32))) = WEIR_SPLIT_SALTS;
	const __m256i salt = _mm256_load_si256((const __m256i *)(const void *)salts);
	const __m256i product = _mm256_mullo_epi32(_mm256_set1_epi32((int)(uint32_t)hash), salt);
	return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(product, 27));
}

WEIR__INLINE void split_masks(uint64_t hash, uint64_t out[WEIR_SPLIT_WORDS])
{
	_mm256_storeu_si256((__m256i *)(void *)out, split_mask(hash));
}

WEIR__INLINE bool split_holds(const uint64_t *block, uint64_t hash)
{
	const __m256i bits = _mm256_load_si256((const __m256i *)(const void *)block);
	return _mm256_testc_si256(bits, split_mask(hash));
}

#elif defined(WEIR_KERNEL_NEON)

/* A block is two vectors. */
#include <arm_neon.h>

/* Return: the bits of a key in words 4 * half to 4 * half + 3. */
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

#else

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

#endif

#endif
