/* SPDX-License-Identifier: MIT
 * Lookups in columns, which window/kernel.c includes for each instruction set. A line has one key's
 * words of eight slots, side by side. So AVX-512 tests eight slots by one comparison. */
#ifndef WEIR_SRC_WINDOW_COLUMNS_H
#define WEIR_SRC_WINDOW_COLUMNS_H

#include <weir/inline.h>

/* If a key has this many bits or more, vector lanes make its mask: each lane sets one bit, and the
 * lanes are ORed. A lane without a bit of its own repeats the key's first bit. */
enum { COLUMN_IN_LANES = 4 };
#define COLUMN_LANE(l) (weir__field_shift(1, from + (l) < g ? from + (l) : 0))

#if defined(WEIR__AVX512)

typedef __m512i column_mask;

WEIR__INLINE column_mask column_mask_of(uint64_t mask)
{
	return _mm512_set1_epi64((long long)mask);
}

/* Return: bits @from to @from + 7 of a key, one in each lane. The rotation takes its count modulo
 * 64, so the upper bits of r need no mask. */
WEIR__INLINE __m512i column_bits(__m512i r, unsigned g, unsigned from)
{
	__m512i at = _mm512_set_epi64(COLUMN_LANE(7), COLUMN_LANE(6), COLUMN_LANE(5),
	                              COLUMN_LANE(4), COLUMN_LANE(3), COLUMN_LANE(2),
	                              COLUMN_LANE(1), COLUMN_LANE(0));
	return _mm512_rolv_epi64(_mm512_set1_epi64(1), _mm512_srlv_epi64(r, at));
}

WEIR__INLINE column_mask column_mask_in_lanes(uint64_t r, unsigned g)
{
	__m512i each = _mm512_set1_epi64((long long)r), m = column_bits(each, g, 0);
	if (g > 8)
		m = _mm512_or_si512(m, column_bits(each, g, 8));
	m = _mm512_or_si512(m, _mm512_shuffle_i64x2(m, m, 0x4e));
	m = _mm512_or_si512(m, _mm512_permutex_epi64(m, 0x4e));
	return _mm512_or_si512(m, _mm512_shuffle_epi32(m, (_MM_PERM_ENUM)0x4e));
}

/* Test eight slots, whose words begin at @words. Return: a word whose bit i is set if the
 * word of slot i has all bits of the mask. */
WEIR__INLINE uint32_t column_line(const uint64_t *words, column_mask m)
{
	return _mm512_cmpeq_epi64_mask(_mm512_and_si512(_mm512_load_si512(words), m), m);
}

/* Test four slots, whose words begin at @words. Return: as column_line(). */
WEIR__INLINE uint32_t column_half(const uint64_t *words, column_mask wide)
{
	__m256i m = _mm512_castsi512_si256(wide);
	__m256i w = _mm256_load_si256((const __m256i *)(const void *)words);
	return _mm256_cmpeq_epi64_mask(_mm256_and_si256(w, m), m);
}

#else

#if defined(WEIR__AVX2)

typedef __m256i column_mask;

WEIR__INLINE column_mask column_mask_of(uint64_t mask)
{
	return _mm256_set1_epi64x((long long)mask);
}

/* Return: bits @from to @from + 3 of a key, one in each lane. */
WEIR__INLINE __m256i column_bits(__m256i r, unsigned g, unsigned from)
{
	__m256i at = _mm256_set_epi64x(COLUMN_LANE(3), COLUMN_LANE(2), COLUMN_LANE(1),
	                               COLUMN_LANE(0));
	__m256i n = _mm256_and_si256(_mm256_srlv_epi64(r, at), _mm256_set1_epi64x(63));
	return _mm256_sllv_epi64(_mm256_set1_epi64x(1), n);
}

WEIR__INLINE column_mask column_mask_in_lanes(uint64_t r, unsigned g)
{
	__m256i each = _mm256_set1_epi64x((long long)r), m = column_bits(each, g, 0);
	WEIR__UNROLL
	for (unsigned from = 4; from < g; from += 4)
		m = _mm256_or_si256(m, column_bits(each, g, from));
	m = _mm256_or_si256(m, _mm256_permute4x64_epi64(m, 0x4e));
	return _mm256_or_si256(m, _mm256_shuffle_epi32(m, 0x4e));
}

WEIR__INLINE uint32_t column_half(const uint64_t *words, column_mask m)
{
	__m256i w = _mm256_load_si256((const __m256i *)(const void *)words);
	__m256i has = _mm256_cmpeq_epi64(_mm256_and_si256(w, m), m);
	return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(has));
}

#else

typedef uint64_t column_mask;

WEIR__INLINE column_mask column_mask_of(uint64_t mask) { return mask; }

WEIR__INLINE column_mask column_mask_in_lanes(uint64_t r, unsigned g)
{
	return weir__word_mask(1, g, 0, r, 0);
}

WEIR__INLINE uint32_t column_half(const uint64_t *words, column_mask mask)
{
	uint32_t in = 0;
	for (uint32_t s = 0; s < 4; s++)
		in |= (uint32_t)((weir__word_load_relaxed(words + s) & mask) == mask) << s;
	return in;
}

#endif

WEIR__INLINE uint32_t column_line(const uint64_t *words, column_mask mask)
{
	return column_half(words, mask) | column_half(words + 4, mask) << 4;
}

#endif

/* Return: the mask of a key. @r: weir__remix(hash). */
WEIR__INLINE column_mask column_mask_of_key(uint64_t r, unsigned g)
{
	return g < COLUMN_IN_LANES ? column_mask_of(weir__word_mask(1, g, 0, r, 0)) :
	                             column_mask_in_lanes(r, g);
}

#endif
