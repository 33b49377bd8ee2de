/* SPDX-License-Identifier: MIT
 * The blocked kind for AVX-512 (F and DQ: Skylake-SP and later): the kernels of <weir/inline.h> compiled with its flags, and batches
 * that test eight keys at once: with one or two words a key it takes fewer instructions to gather those words for eight keys than to
 * load eight lines. */
#define KERNEL_ISA WEIR_ISA_AVX512
#define KERNEL_TABLE weir__blocked_avx512
#define KERNEL_TEST_STEP test_eights
#define KERNEL_FETCH_STEP fetch_eights

#include <weir/inline.h>
#include "../kind.h"

/* High half of eight h * n for n < 2^32: h = high * 2^32 + low, so it is (high * n + (low * n >> 32)) >> 32. */
WEIR__INLINE __m512i mulhi8(__m512i h, __m512i n)
{
	__m512i low = _mm512_srli_epi64(_mm512_mul_epu32(h, n), 32);
	return _mm512_srli_epi64(_mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(h, 32), n), low), 32);
}

/* Index in the array of the word of group i, for eight keys. */
WEIR__INLINE __m512i word_index8(__m512i block, __m512i r, unsigned z, unsigned i)
{
	__m512i sector = _mm512_srli_epi64(r, weir__sector_shift(z, i));
	__m512i within = _mm512_and_si512(sector, _mm512_set1_epi64(8 / z - 1));
	return _mm512_or_si512(_mm512_slli_epi64(block, 3), _mm512_or_si512(within, _mm512_set1_epi64(i * (8 / z))));
}

/* Lane by lane, bit 0 of the result: every bit of the key is set. z is 1 or 2. */
WEIR__INLINE __m512i test8(const struct weir_inline *v, __m512i h, unsigned z, unsigned g)
{
	__m512i r = _mm512_mullo_epi64(h, _mm512_set1_epi64((long long)weir__remix(1)));
	__m512i r2 = z * g > 10 ? _mm512_mullo_epi64(h, _mm512_set1_epi64((long long)weir__remix2(1))) : r;
	__m512i block = mulhi8(h, _mm512_set1_epi64((long long)v->nblocks)), all = _mm512_set1_epi64(1);
	WEIR__UNROLL
	for (unsigned i = 0; i < z; i++) {
		__m512i word = _mm512_i64gather_epi64(word_index8(block, r, z, i), (const void *)v->words, 8);
		WEIR__UNROLL
		for (unsigned t = 0; t < g; t++) {
			unsigned j = i * g + t;
			__m512i bit = _mm512_srli_epi64(j < 10 ? r : r2, weir__field_shift(z, j));
			all = _mm512_and_si512(all, _mm512_rorv_epi64(word, bit)); /* the count is taken modulo 64 */
		}
	}
	return all;
}

WEIR__INLINE uint64_t test_each(const struct weir_inline *v, const uint64_t *hashes, unsigned n, unsigned z, unsigned g);

WEIR__INLINE uint64_t test_eights(const struct weir_inline *v, const uint64_t *hashes, unsigned n, unsigned z, unsigned g)
{
	if (z > 2 || v->nblocks >> 32)
		return test_each(v, hashes, n, z, g);
	uint64_t answers = 0;
	unsigned i = 0;
	for (; i + 8 <= n; i += 8) {
		__m512i all = test8(v, _mm512_loadu_si512(hashes + i), z, g);
		answers |= (uint64_t)_mm512_test_epi64_mask(all, all) << i;
	}
	return i < n ? answers | test_each(v, hashes + i, n - i, z, g) << i : answers;
}

WEIR__INLINE void fetch_eights(const struct weir_filter *f, const uint64_t *hashes, unsigned n)
{
	const struct weir_inline *v = &f->view;
	unsigned i = 0;
	for (; i + 8 <= n && v->nblocks >> 32 == 0; i += 8) {
		uint64_t block[8];
		_mm512_storeu_si512(block, mulhi8(_mm512_loadu_si512(hashes + i), _mm512_set1_epi64((long long)v->nblocks)));
		WEIR__UNROLL
		for (unsigned j = 0; j < 8; j++)
			__builtin_prefetch(v->words + 8 * block[j], 0, 3);
	}
	for (; i < n; i++)
		__builtin_prefetch(weir__block(v, hashes[i]), 0, 3);
}

#include "blocked_kernel.h"
