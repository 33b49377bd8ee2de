/* SPDX-License-Identifier: MIT
 * Batches in a fuse structure for AVX-512 (F, DQ and VL), for fuse_kernel.h: eight keys are noted
 * at once. */
#ifndef WEIR_SRC_KINDS_COMMON_FUSE_AVX512_H
#define WEIR_SRC_KINDS_COMMON_FUSE_AVX512_H

#include "kind/batch.h"
#include "kinds/common/fuse.h"

/* Return: the seeds of eight parts. Each is loaded separately, since a gather waits for all earlier
 * loads if gather data sampling is mitigated. With a single part all seeds are the same. */
WEIR__INLINE __m512i seeds8(const uint64_t *words, unsigned part_bits, __m512i first)
{
	uint64_t word[8] __attribute__((aligned(64))), seed[8] __attribute__((aligned(64)));
	if (!part_bits)
		return _mm512_set1_epi64((long long)words[0]);
	_mm512_store_si512(word, first);
	WEIR__UNROLL
	for (unsigned i = 0; i < 8; i++)
		seed[i] = words[word[i]];
	return _mm512_load_si512(seed);
}

/* Return: the high half of g * range, if range < 2^32. */
WEIR__INLINE __m512i scaled8(__m512i g, uint64_t range)
{
	const __m512i r = _mm512_set1_epi64((long long)range);
	const __m512i high = _mm512_mul_epu32(_mm512_srli_epi64(g, 32), r);
	const __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(g, r), 32);
	return _mm512_srli_epi64(_mm512_add_epi64(high, low), 32);
}

WEIR__INLINE __m512i mix8(__m512i h, __m512i seed)
{
	__m512i m = _mm512_mullo_epi64(_mm512_xor_si512(h, seed),
	                               _mm512_set1_epi64((long long)WEIR_FUSE_C1));
	m = _mm512_xor_si512(m, _mm512_srli_epi64(m, 32));
	return _mm512_mullo_epi64(m, _mm512_set1_epi64((long long)WEIR_FUSE_C2));
}

/* Note up to eight keys. Eight columns are written even if there are fewer keys. */
WEIR__INLINE void note_eight(const struct weir_fuse_level *l, __m512i h, struct weir_notes *notes,
                             unsigned at)
{
	const unsigned bits = l->part.segment_bits, part_bits = l->part.part_bits;
	const __m512i length = _mm512_set1_epi64(1ll << bits);
	const __m512i low = _mm512_set1_epi64((1ll << bits) - 1);
	const __m512i width = _mm512_set1_epi64(l->part.width);
	const __m512i words = _mm512_set1_epi64((long long)l->part_words);
	const __m128i left = _mm_cvtsi32_si128((int)part_bits);
	const __m128i right = _mm_cvtsi32_si128((int)(64 - part_bits));
	const __m128i unused = _mm_cvtsi32_si128(64 - (int)l->part.width);
	/* a vector shift by 64 gives 0 */
	const __m512i begin = _mm512_mullo_epi64(_mm512_srl_epi64(h, right), words);
	const __m512i m = mix8(h, seeds8(l->words, part_bits, begin));
	const __m512i c0 = scaled8(_mm512_sll_epi64(h, left), l->part.range);
	const __m512i next = _mm512_add_epi64(c0, length);
	const __m512i c1 = _mm512_xor_si512(next, _mm512_and_si512(_mm512_srli_epi64(m, 18), low));
	const __m512i c2 = _mm512_xor_si512(_mm512_add_epi64(next, length),
	                                    _mm512_and_si512(m, low));
	const __m512i cells = _mm512_add_epi64(_mm512_slli_epi64(begin, 6),
	                                       _mm512_set1_epi64(8 * WEIR_FUSE_SEED));
	const __m512i top = _mm512_srl_epi64(m, unused);
	const __m512i c[3] = { c0, c1, c2 };
	WEIR__UNROLL
	for (unsigned j = 0; j < 3; j++)
		_mm512_store_si512(notes->row[WEIR_FUSE_ROW_CELL + j] + at,
		                   _mm512_add_epi64(cells, _mm512_mul_epu32(c[j], width)));
	_mm512_store_si512(notes->row[WEIR_FUSE_ROW_VALUE] + at,
	                   l->second ? top : _mm512_max_epu64(top, _mm512_set1_epi64(1)));
}

WEIR__INLINE void weir__fuse_note_eights(const struct weir_fuse_level *l, const uint64_t *hashes,
                                         unsigned n, struct weir_notes *notes, unsigned at)
{
	for (unsigned i = 0; i < n; i += 8)
		note_eight(l, n - i >= 8 ? _mm512_loadu_si512(hashes + i) :
		                           _mm512_maskz_loadu_epi64(
						   (__mmask8)((1u << (n - i)) - 1), hashes + i),
		           notes, at + i);
}

#define FUSE_NOTE weir__fuse_note_eights

#endif
