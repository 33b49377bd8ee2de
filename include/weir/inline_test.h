/* SPDX-License-Identifier: MIT
 * The words and bits of a key in its block, and the test whether all bits of the key are set, for
 * each vector width. A part of <weir/inline.h>; do not include this header directly. The head of
 * inline.h describes the layout. */
#ifndef WEIR_INLINE_TEST_H
#define WEIR_INLINE_TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/inline_layouts.h>
#include <weir/word.h>

#if !defined(WEIR_INLINE_SCALAR) && !defined(__SANITIZE_THREAD__)
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define WEIR__AVX512 1
#elif defined(__AVX2__)
#define WEIR__AVX2 1
#elif defined(__ARM_NEON) && defined(__aarch64__) && !defined(__AARCH64EB__)
#define WEIR__NEON 1
#endif
#endif
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef WEIR__AVX512
#undef WEIR__AVX2
#undef WEIR__NEON
#endif
#endif
#if defined(WEIR__AVX512) || defined(WEIR__AVX2)
#include <immintrin.h>
#elif defined(WEIR__NEON)
#include <arm_neon.h>
#endif

#if defined(__clang__)
#define WEIR__UNROLL _Pragma("unroll")
#else
#define WEIR__UNROLL _Pragma("GCC unroll 20")
#endif

WEIR_BEGIN_DECLS

/* ---- the derivation: from a hash to words and bits ---- */

WEIR__INLINE uint64_t weir__remix(uint64_t h) { return h * UINT64_C(0x9E3779B97F4A7C15); }
/* Return: r2 = h * r2's multiplier. The inverse of r's multiplier turns r back into h. */
WEIR__INLINE uint64_t weir__remix2(uint64_t r)
{
	return r * (UINT64_C(0xF1DE83E19937733D) * UINT64_C(0xD6E8FEB86659FD93));
}

/* Return: log2(8/z), the number of bits that select a word in its group. */
WEIR__INLINE unsigned weir__sector_bits(unsigned z)
{
	return z == 1 ? 3 : z == 2 ? 2 : z == 4 ? 1 : 0;
}

/* Return: the shift that brings field j down to bit 0. Fields 0 to 9 are in r, the others in r2. */
WEIR__INLINE unsigned weir__field_shift(unsigned z, unsigned j)
{
	return j < 10 ? 58 - z * weir__sector_bits(z) - 6 * j : 58 - 6 * (j - 10);
}

/* Return: the shift that brings the sector bits of group i in r down to bit 0. */
WEIR__INLINE unsigned weir__sector_shift(unsigned z, unsigned i)
{
	return 64 - (i + 1) * weir__sector_bits(z);
}

WEIR__INLINE unsigned weir__word_index(unsigned z, unsigned i, uint64_t r)
{
	unsigned bits = weir__sector_bits(z);
	return i * (8 / z) +
	       (bits ? (unsigned)(r >> weir__sector_shift(z, i)) & ((1u << bits) - 1) : 0);
}

WEIR__INLINE unsigned weir__bit_index(unsigned z, unsigned j, uint64_t r, uint64_t r2)
{
	return (unsigned)((j < 10 ? r : r2) >> weir__field_shift(z, j)) & 63;
}

/* Return: a mask of the g bits of group i. */
WEIR__INLINE uint64_t weir__word_mask(unsigned z, unsigned g, unsigned i, uint64_t r, uint64_t r2)
{
	uint64_t mask = 0;
	WEIR__UNROLL
	for (unsigned t = 0; t < g; t++)
		mask |= UINT64_C(1) << weir__bit_index(z, i * g + t, r, r2);
	return mask;
}

/* ---- the test: one body for each vector width; z and g are constants in every call ---- */

#if defined(WEIR__AVX512) || defined(WEIR__AVX2)

/* A vector has four lanes. Each group gets N of them. If z is 1 or 2, N is 4, and each lane has the
 * group's word. If z is 4, N is 2, and the vector is half a line, permuted within 128 bits. If z is
 * 8, N is 1, and the vector is half a line as it is. Vector p has the groups from p * 4/N on. Step
 * s tests the bits of each group from s * N on. */
#define WEIR__LANES4(f) _mm256_set_epi64x(f(3), f(2), f(1), f(0))
#define WEIR__N (z <= 2 ? 4 : z == 4 ? 2 : 1)
#define WEIR__GROUP(l) (p * (4 / WEIR__N) + (l) / WEIR__N)
#define WEIR__BIT(l) (s * WEIR__N + (l) % WEIR__N < g ? s * WEIR__N + (l) % WEIR__N : 0)
#define WEIR__J(l) (WEIR__GROUP(l) * g + WEIR__BIT(l))
#define WEIR__L_IN_R2(l) (WEIR__J(l) >= 10 ? -1 : 0)
#define WEIR__L_FIELD(l) weir__field_shift(z, WEIR__J(l))
#define WEIR__L_PERMUTE(l) (62 - WEIR__GROUP(l)) /* vpermilpd reads bit 1 of its control */

WEIR__INLINE __m256i weir__part_words(const uint64_t *block, unsigned p, unsigned z, uint64_t r)
{
	if (z <= 2)
		return _mm256_set1_epi64x((long long)block[weir__word_index(z, p, r)]);
	__m256i half = _mm256_load_si256((const __m256i *)(const void *)(block + 4 * p));
	if (z == 8)
		return half;
	__m256i control = _mm256_srlv_epi64(_mm256_set1_epi64x((long long)r),
	                                    WEIR__LANES4(WEIR__L_PERMUTE));
	return _mm256_castpd_si256(_mm256_permutevar_pd(_mm256_castsi256_pd(half), control));
}

/* Return: in each lane r2 if @in_r2 is -1 in that lane, r if it is 0. */
WEIR__INLINE __m256i weir__source(__m256i in_r2, uint64_t r, uint64_t r2)
{
	return _mm256_blendv_epi8(_mm256_set1_epi64x((long long)r),
	                          _mm256_set1_epi64x((long long)r2), in_r2);
}

/* Return: @word, with each lane's bit shifted down to bit 0. */
WEIR__INLINE __m256i weir__part_down(__m256i word, unsigned p, unsigned s, unsigned z, unsigned g,
                                     uint64_t r, uint64_t r2)
{
	__m256i source = z * g <= 10 ? _mm256_set1_epi64x((long long)r) :
	                               weir__source(WEIR__LANES4(WEIR__L_IN_R2), r, r2);
	__m256i field = _mm256_srlv_epi64(source, WEIR__LANES4(WEIR__L_FIELD));
#if defined(__AVX512VL__)
	return _mm256_rorv_epi64(word, field); /* the instruction takes the count modulo 64 */
#else
	return _mm256_srlv_epi64(word, _mm256_and_si256(field, _mm256_set1_epi64x(63)));
#endif
}

WEIR__INLINE bool weir__test_avx2(const uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
	uint64_t r2 = z * g > 10 ? weir__remix2(r) : 0;
	const unsigned parts = z == 1 ? 1 : 2, steps = (g + WEIR__N - 1) / WEIR__N;
	__m256i all = _mm256_set1_epi64x(-1);
	WEIR__UNROLL
	for (unsigned p = 0; p < parts; p++) {
		__m256i word = weir__part_words(block, p, z, r);
		WEIR__UNROLL
		for (unsigned s = 0; s < steps; s++)
			all = _mm256_and_si256(all, weir__part_down(word, p, s, z, g, r, r2));
	}
	return _mm256_testc_si256(all, _mm256_set1_epi64x(1));
}

#undef WEIR__GROUP
#undef WEIR__BIT
#undef WEIR__J
#undef WEIR__L_IN_R2
#undef WEIR__L_FIELD
#endif

#if defined(WEIR__AVX512)

/* A vector has eight lanes, 8/z for each group. One vpermq puts each group's word into its lanes.
 * Step s tests the bits of each group from s * 8/z on: vprorvq, which takes its count modulo 64,
 * rotates a lane's bit to bit 0. Lanes past a group's last bit test its first bit again. */
#define WEIR__LANES8(f) _mm512_set_epi64(f(7), f(6), f(5), f(4), f(3), f(2), f(1), f(0))
#define WEIR__MASK8(f) \
	(__mmask8)(f(0) | f(1) << 1 | f(2) << 2 | f(3) << 3 | f(4) << 4 | f(5) << 5 | f(6) << 6 | \
	           f(7) << 7)
#define WEIR__GROUP(l) ((l) * z / 8)
#define WEIR__BIT(l) (s * 8 / z + (l) % (8 / z) < g ? s * 8 / z + (l) % (8 / z) : 0)
#define WEIR__J(l) (WEIR__GROUP(l) * g + WEIR__BIT(l))
#define WEIR__L_IN_R2(l) (WEIR__J(l) >= 10)
#define WEIR__L_FIELD(l) weir__field_shift(z, WEIR__J(l))
#define WEIR__L_SECTOR(l) weir__sector_shift(z, WEIR__GROUP(l))
#define WEIR__L_BASE(l) (WEIR__GROUP(l) * (8 / z))

WEIR__INLINE __m512i weir__words(const uint64_t *block, unsigned z, uint64_t r)
{
	__m512i line = _mm512_load_si512((const void *)block);
	if (z == 8)
		return line;
	/* index = base | (sector & (8/z - 1)). vpermq reads three bits of the index, so one or two
	 * groups need no mask. A single group has a sector of three bits. With two groups, the
	 * first group has its two-bit sector at the top of r, so bit 2 is 0, and the second group
	 * has bit 2 set in its base anyway. */
	__m512i base = WEIR__LANES8(WEIR__L_BASE);
	__m512i sector = _mm512_srlv_epi64(_mm512_set1_epi64((long long)r),
	                                   WEIR__LANES8(WEIR__L_SECTOR));
	__m512i index = z <= 2 ? _mm512_or_si512(base, sector) :
	                         _mm512_ternarylogic_epi64(base, sector,
	                                                   _mm512_set1_epi64(8 / z - 1), 0xf8);
	return _mm512_permutexvar_epi64(index, line);
}

WEIR__INLINE __m512i weir__step(__m512i words, unsigned s, unsigned z, unsigned g, uint64_t r,
                                uint64_t r2)
{
	__m512i source = _mm512_mask_set1_epi64(_mm512_set1_epi64((long long)r),
	                                        WEIR__MASK8(WEIR__L_IN_R2), (long long)r2);
	return _mm512_rorv_epi64(words, _mm512_srlv_epi64(source, WEIR__LANES8(WEIR__L_FIELD)));
}

WEIR__INLINE bool weir__test(const uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
	if (z == 1 && g <= 4) /* four lanes suffice: as many instructions, at half the width */
		return weir__test_avx2(block, r, z, g);
	uint64_t r2 = z * g > 10 ? weir__remix2(r) : 0;
	__m512i words = weir__words(block, z, r), all = weir__step(words, 0, z, g, r, r2);
	WEIR__UNROLL
	for (unsigned s = 1; s < (z * g + 7) / 8; s++)
		all = _mm512_and_si512(all, weir__step(words, s, z, g, r, r2));
	return _mm512_testn_epi64_mask(all, _mm512_set1_epi64(1)) == 0;
}

#elif defined(WEIR__AVX2)

WEIR__INLINE bool weir__test(const uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
	return weir__test_avx2(block, r, z, g);
}

#elif defined(WEIR__NEON)

/* A vector has two lanes, for two groups (z >= 2) or for two bits of the only group (z = 1). */
#define WEIR__GROUP(l) (z == 1 ? 0 : 2 * p + (l))
#define WEIR__BIT(l) (z > 1 ? s : 2 * s + (l) < g ? 2 * s + (l) : 0)
#define WEIR__J(l) (WEIR__GROUP(l) * g + WEIR__BIT(l))
#define WEIR__L_SOURCE(l) (WEIR__J(l) < 10 ? r : r2)
#define WEIR__L_FIELD(l) (-(int64_t)weir__field_shift(z, WEIR__J(l)))

WEIR__INLINE bool weir__test(const uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
	uint64_t r2 = z * g > 10 ? weir__remix2(r) : 0;
	const unsigned parts = (z + 1) / 2, steps = z == 1 ? (g + 1) / 2 : g;
	uint64x2_t all = vdupq_n_u64(1);
	WEIR__UNROLL
	for (unsigned p = 0; p < parts; p++) {
		uint64x2_t word = vcombine_u64(
			vld1_u64(block + weir__word_index(z, WEIR__GROUP(0), r)),
			vld1_u64(block + weir__word_index(z, WEIR__GROUP(1), r)));
		WEIR__UNROLL
		for (unsigned s = 0; s < steps; s++) {
			uint64x2_t source = vcombine_u64(vcreate_u64(WEIR__L_SOURCE(0)),
			                                 vcreate_u64(WEIR__L_SOURCE(1)));
			int64x2_t shift = vcombine_s64(vdup_n_s64(WEIR__L_FIELD(0)),
			                               vdup_n_s64(WEIR__L_FIELD(1)));
			uint64x2_t bit = vandq_u64(vshlq_u64(source, shift), vdupq_n_u64(63));
			all = vandq_u64(all,
			                vshlq_u64(word, vnegq_s64(vreinterpretq_s64_u64(bit))));
		}
	}
	return vgetq_lane_u64(all, 0) & vgetq_lane_u64(all, 1) & 1;
}

#else

WEIR__INLINE bool weir__test(const uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
	uint64_t r2 = z * g > 10 ? weir__remix2(r) : 0, all = 1;
	WEIR__UNROLL
	for (unsigned i = 0; i < z; i++) {
		uint64_t word = weir__word_load_relaxed(block + weir__word_index(z, i, r));
		WEIR__UNROLL
		for (unsigned t = 0; t < g; t++)
			all &= word >> weir__bit_index(z, i * g + t, r, r2);
	}
	return all & 1;
}

#endif

/* Test one key between other work, such as an insert or a call, with vectors of at most 256 bits. A
 * few 512-bit instructions would lower the core's clock (Skylake-SP), which costs more than they
 * save. */
WEIR__INLINE bool weir__test_narrow(const uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
#if defined(WEIR__AVX512)
	return weir__test_avx2(block, r, z, g);
#else
	return weir__test(block, r, z, g);
#endif
}

#undef WEIR__LANES8
#undef WEIR__MASK8
#undef WEIR__LANES4
#undef WEIR__N
#undef WEIR__GROUP
#undef WEIR__BIT
#undef WEIR__J
#undef WEIR__L_SOURCE
#undef WEIR__L_IN_R2
#undef WEIR__L_FIELD
#undef WEIR__L_SECTOR
#undef WEIR__L_BASE
#undef WEIR__L_PERMUTE

WEIR_END_DECLS

#endif
