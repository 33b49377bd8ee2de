/* SPDX-License-Identifier: MIT
 * The words and masks of <weir/inline_test.h> for eight keys at once, with AVX-512 (F, DQ and VL).
 * The blocked kind and kinds made of blocked filters use it. */
#ifndef WEIR_SRC_KINDS_BLOCKED_EIGHT_H
#define WEIR_SRC_KINDS_BLOCKED_EIGHT_H

#include <weir/inline.h>

/* Return: the high halves of eight products h * n. If n < 2^32 and h = high * 2^32 + low, the
 * high half of h * n is (high * n + (low * n >> 32)) >> 32. */
WEIR__INLINE __m512i weir__mulhi8(__m512i h, uint64_t n)
{
	if (n >> 32) {
		uint64_t each[8];
		_mm512_storeu_si512(each, h);
		for (unsigned i = 0; i < 8; i++)
			each[i] = weir__mulhi64(each[i], n);
		return _mm512_loadu_si512(each);
	}
	__m512i n8 = _mm512_set1_epi64((long long)n),
		low = _mm512_srli_epi64(_mm512_mul_epu32(h, n8), 32);
	return _mm512_srli_epi64(
		_mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(h, 32), n8), low), 32);
}

/* Return: the indices of the first words of eight keys' blocks. @blocks: the number of blocks. */
WEIR__INLINE __m512i weir__block8(uint64_t blocks, __m512i h)
{
	return _mm512_slli_epi64(weir__mulhi8(h, blocks), 3);
}

WEIR__INLINE __m512i weir__remix8(__m512i h)
{
	return _mm512_mullo_epi64(h, _mm512_set1_epi64((long long)weir__remix(1)));
}

/* Return: r2 from r if the key has fields in r2; else r as a placeholder that is never read. */
WEIR__INLINE __m512i weir__remix2_8(__m512i r, unsigned z, unsigned g)
{
	return z * g > 10 ?
	               _mm512_mullo_epi64(r, _mm512_set1_epi64((long long)weir__remix2(1))) :
	               r;
}

/* Return: field j, with other bits above it. The callers pass the field as a count to rorv or rolv,
 * which ignore the bits above it. */
WEIR__INLINE __m512i weir__field8(__m512i r, __m512i r2, unsigned z, unsigned j)
{
	return _mm512_srli_epi64(j < 10 ? r : r2, weir__field_shift(z, j));
}

/* Return: the index in the array of the word of group i: first | (sector & (8/z - 1)). */
WEIR__INLINE __m512i weir__word_index8(__m512i block, __m512i r, unsigned z, unsigned i)
{
	__m512i sector = _mm512_srli_epi64(r, weir__sector_shift(z, i));
	__m512i first = i ? _mm512_add_epi64(block, _mm512_set1_epi64(i * (8 / z))) : block;
	return _mm512_ternarylogic_epi64(first, sector, _mm512_set1_epi64(8 / z - 1), 0xf8);
}

/* Return: the g bits of group i as a mask. */
WEIR__INLINE __m512i weir__word_mask8(__m512i r, __m512i r2, unsigned z, unsigned g, unsigned i)
{
	__m512i mask = _mm512_setzero_si512();
	WEIR__UNROLL
	for (unsigned j = i * g; j < (i + 1) * g; j++)
		mask = _mm512_or_si512(mask, _mm512_rolv_epi64(_mm512_set1_epi64(1),
		                                               weir__field8(r, r2, z, j)));
	return mask;
}

#endif
