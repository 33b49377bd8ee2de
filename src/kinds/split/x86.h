/* SPDX-License-Identifier: MIT
 * The split kind for AVX2 and what has it: a block is one vector. */
#include <immintrin.h>
#include "kinds/split/split.h"

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
