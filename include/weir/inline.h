/* SPDX-License-Identifier: MIT
 * The blocked kind's hot verbs, inlined for the caller's own -march. Opt-in: needs xxhash.h; link with weir for the rest.
 *
 * The layout is frozen (golden files), so inlining it is safe: same bits, same answers as the library's. The library's own kernels
 * are this file compiled once per instruction set.
 *
 *     struct weir_inline v;
 *     if (weir_inline_init(&v, filter) == 0 && weir_inline_contains(&v, key, len)) ...
 *
 * Layout (Lang, Neumann, Kemper, Boncz 2019: cache-sectorized). The array is nblocks blocks of eight 64-bit words, a cache line
 * each. A key picks z words of its block, one in each of z equal groups, and sets g bits in each:
 *
 *     h      = XXH3_64bits_withSeed(key, len, seed)
 *     block  = high half of h * nblocks
 *     r      = h * 0x9E3779B97F4A7C15,   r2 = h * 0xD6E8FEB86659FD93
 *     from the top of r: log2(8/z) bits a group that choose its word, then 6 bits a field; fields 0 to 9 lie in r, 10 to 19 in r2
 */
#ifndef WEIR_INLINE_H
#define WEIR_INLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <weir/export.h>
#include <weir/word.h>

/* g++ 12 takes its own _mm512_undefined_epi32() for a variable that was forgotten (GCC bug 105593), in xxHash's code too. */
#if defined(__AVX512F__) && defined(__cplusplus) && !defined(__clang__)
#define WEIR__QUIET 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

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
#pragma clang diagnostic push /* a sanitizer that keeps a loop from being unrolled is no fault of the caller's */
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#define WEIR__UNROLL _Pragma("GCC unroll 20")
#endif

WEIR_BEGIN_DECLS

struct weir_filter;

/** What a lookup needs of a blocked filter. Read-only after weir_inline_init(); valid as long as the filter. */
struct weir_inline {
	uint64_t *words;        /* 8 * nblocks, 64-byte aligned */
	uint64_t nblocks;
	uint64_t seed;
	uint64_t flip8;         /* weir__flip8(seed): an insert's hash would wait for it, since its loads wait for the locked instructions before */
	uint32_t words_per_key; /* z */
	uint32_t bits_per_word; /* g */
	int insert_error;       /* 0, or what an insert answers: -EROFS */
};

/**
 * Take the view of a blocked filter.
 * Return: 0 or a negative errno.  Errors: -ENOTSUP another kind.
 * Threads: any; share the view or copy it.
 */
WEIR_API WEIR_MUST_CHECK int weir_inline_init(struct weir_inline *out, const struct weir_filter *f);

/* ---- the hash ---- */

/* XXH3_64bits_withSeed of eight bytes is two multiplies, rotates and shifts, written out because xxhash.h leaves calls and tests of
 * the length in it that compilers keep. Source: XXH3_len_4to8_64b and XXH3_rrmxmx in xxHash 0.8; tests hold it to XXH3 itself. */
#define WEIR__HASH8_M UINT64_C(0x9FB21C651E98DF25)

/* What a seed adds to the key: bytes 8 to 15 of XXH3's secret ^ bytes 16 to 23, less the seed with its low half turned into the high. */
WEIR__INLINE uint64_t weir__flip8(uint64_t seed)
{
	return UINT64_C(0xC73AB174C5ECD5A2) - (seed ^ (uint64_t)__builtin_bswap32((uint32_t)seed) << 32);
}

WEIR__INLINE uint64_t weir__hash8(uint64_t flip8, const void *key)
{
	uint64_t x;
	__builtin_memcpy(&x, key, 8);
	x = WEIR__LE64(x);
	x = (x << 32 | x >> 32) ^ flip8;
	x ^= (x << 49 | x >> 15) ^ (x << 24 | x >> 40);
	x *= WEIR__HASH8_M;
	x ^= (x >> 35) + 8;
	x *= WEIR__HASH8_M;
	return x ^ x >> 28;
}

/* ---- the derivation: from a hash to a block, words and bits ---- */

WEIR__INLINE uint64_t weir__mulhi64(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 weir__u128;
	return (uint64_t)(((weir__u128)a * b) >> 64);
}

WEIR__INLINE uint64_t *weir__block(const struct weir_inline *v, uint64_t h)
{
	return v->words + 8 * weir__mulhi64(h, v->nblocks);
}

WEIR__INLINE uint64_t weir__remix(uint64_t h) { return h * UINT64_C(0x9E3779B97F4A7C15); }
/* r2 from r: the inverse of the first multiplier, times the second */
WEIR__INLINE uint64_t weir__remix2(uint64_t r) { return r * (UINT64_C(0xF1DE83E19937733D) * UINT64_C(0xD6E8FEB86659FD93)); }

/* log2(8/z): the bits that choose a word in its group */
WEIR__INLINE unsigned weir__sector_bits(unsigned z) { return z == 1 ? 3 : z == 2 ? 2 : z == 4 ? 1 : 0; }

/* how far field j lies above bit 0 of r (j < 10) or r2 */
WEIR__INLINE unsigned weir__field_shift(unsigned z, unsigned j)
{
	return j < 10 ? 58 - z * weir__sector_bits(z) - 6 * j : 58 - 6 * (j - 10);
}

/* how far the sector bits of group i lie above bit 0 of r */
WEIR__INLINE unsigned weir__sector_shift(unsigned z, unsigned i) { return 64 - (i + 1) * weir__sector_bits(z); }

WEIR__INLINE unsigned weir__word_index(unsigned z, unsigned i, uint64_t r)
{
	unsigned bits = weir__sector_bits(z);
	return i * (8 / z) + (bits ? (unsigned)(r >> weir__sector_shift(z, i)) & ((1u << bits) - 1) : 0);
}

WEIR__INLINE unsigned weir__bit_index(unsigned z, unsigned j, uint64_t r, uint64_t r2)
{
	return (unsigned)((j < 10 ? r : r2) >> weir__field_shift(z, j)) & 63;
}

/* the g bits of group i as a mask */
WEIR__INLINE uint64_t weir__word_mask(unsigned z, unsigned g, unsigned i, uint64_t r, uint64_t r2)
{
	uint64_t mask = 0;
	WEIR__UNROLL
	for (unsigned t = 0; t < g; t++)
		mask |= UINT64_C(1) << weir__bit_index(z, i * g + t, r, r2);
	return mask;
}

/* ---- the test: one body per vector width; z and g are constants at every call ---- */

#if defined(WEIR__AVX512) || defined(WEIR__AVX2)

/* Four lanes. A group has n lanes of them: 4 when z is 1 or 2 (its word broadcast), 2 when z is 4 (half a line, permuted within
 * 128 bits), 1 when z is 8 (half a line as it is). Part p covers the groups first(p) and up, step s the bits s*n and up of each. */
#define WEIR__LANES4(f) _mm256_set_epi64x(f(3), f(2), f(1), f(0))
#define WEIR__N (z <= 2 ? 4 : z == 4 ? 2 : 1)
#define WEIR__GROUP(l) (p * (4 / WEIR__N) + (l) / WEIR__N)
#define WEIR__BIT(l) (s * WEIR__N + (l) % WEIR__N < g ? s * WEIR__N + (l) % WEIR__N : 0)
#define WEIR__J(l) (WEIR__GROUP(l) * g + WEIR__BIT(l))
#define WEIR__L_SOURCE(l) (long long)(WEIR__J(l) < 10 ? r : r2)
#define WEIR__L_FIELD(l) weir__field_shift(z, WEIR__J(l))
#define WEIR__L_PERMUTE(l) (62 - WEIR__GROUP(l)) /* vpermilpd reads bit 1 of its control */

WEIR__INLINE __m256i weir__part_words(const uint64_t *block, unsigned p, unsigned z, uint64_t r)
{
	if (z <= 2)
		return _mm256_set1_epi64x((long long)block[weir__word_index(z, p, r)]);
	__m256i half = _mm256_load_si256((const __m256i *)(const void *)(block + 4 * p));
	if (z == 8)
		return half;
	__m256i control = _mm256_srlv_epi64(_mm256_set1_epi64x((long long)r), WEIR__LANES4(WEIR__L_PERMUTE));
	return _mm256_castpd_si256(_mm256_permutevar_pd(_mm256_castsi256_pd(half), control));
}

WEIR__INLINE __m256i weir__part_bits(unsigned p, unsigned s, unsigned z, unsigned g, uint64_t r, uint64_t r2)
{
	return _mm256_and_si256(_mm256_srlv_epi64(WEIR__LANES4(WEIR__L_SOURCE), WEIR__LANES4(WEIR__L_FIELD)),
	                        _mm256_set1_epi64x(63));
}

WEIR__INLINE bool weir__test_avx2(const uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
	uint64_t r2 = z * g > 10 ? weir__remix2(r) : 0;
	const unsigned parts = z == 1 ? 1 : 2, steps = (g + WEIR__N - 1) / WEIR__N;
	__m256i one = _mm256_set1_epi64x(1), all = one;
	WEIR__UNROLL
	for (unsigned p = 0; p < parts; p++) {
		__m256i word = weir__part_words(block, p, z, r);
		WEIR__UNROLL
		for (unsigned s = 0; s < steps; s++)
			all = _mm256_and_si256(all, _mm256_srlv_epi64(word, weir__part_bits(p, s, z, g, r, r2)));
	}
	return _mm256_testc_si256(all, one);
}

#undef WEIR__J
#undef WEIR__L_SOURCE
#undef WEIR__L_FIELD
#endif

#if defined(WEIR__AVX512)

/* Lanes 0 to 7 of part p are the fields 8p to 8p+7 (beyond the last field, field 0 again). vpermq brings each lane its word, vprorvq,
 * which takes its count modulo 64, turns the field's bit down to bit 0, and all lanes are tested at once. */
#define WEIR__LANES8(f) _mm512_set_epi64(f(7), f(6), f(5), f(4), f(3), f(2), f(1), f(0))
#define WEIR__J(l) (p * 8 + (l) < z * g ? p * 8 + (l) : 0)
#define WEIR__L_SOURCE(l) (long long)(WEIR__J(l) < 10 ? r : r2)
#define WEIR__L_FIELD(l) weir__field_shift(z, WEIR__J(l))
#define WEIR__L_SECTOR(l) weir__sector_shift(z, WEIR__J(l) / g)
#define WEIR__L_BASE(l) (WEIR__J(l) / g * (8 / z))

WEIR__INLINE __m512i weir__part(__m512i line, unsigned p, unsigned z, unsigned g, uint64_t r, uint64_t r2)
{
	__m512i index = WEIR__LANES8(WEIR__L_BASE);
	if (z < 8) {
		__m512i sector = _mm512_srlv_epi64(_mm512_set1_epi64((long long)r), WEIR__LANES8(WEIR__L_SECTOR));
		/* base | (sector & (8/z - 1)); vpermq reads three bits only, so one group needs no mask */
		index = z == 1 ? sector : _mm512_ternarylogic_epi64(index, sector, _mm512_set1_epi64(8 / z - 1), 0xf8);
	}
	__m512i word = z == 8 && g == 1 ? line : _mm512_permutexvar_epi64(index, line);
	return _mm512_rorv_epi64(word, _mm512_srlv_epi64(WEIR__LANES8(WEIR__L_SOURCE), WEIR__LANES8(WEIR__L_FIELD)));
}

WEIR__INLINE bool weir__test(const uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
	uint64_t r2 = z * g > 10 ? weir__remix2(r) : 0;
	__m512i line = _mm512_load_si512((const void *)block);
	__m512i all = weir__part(line, 0, z, g, r, r2);
	WEIR__UNROLL
	for (unsigned p = 1; p < (z * g + 7) / 8; p++)
		all = _mm512_and_si512(all, weir__part(line, p, z, g, r, r2));
	return _mm512_testn_epi64_mask(all, _mm512_set1_epi64(1)) == 0;
}

#elif defined(WEIR__AVX2)

WEIR__INLINE bool weir__test(const uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
	return weir__test_avx2(block, r, z, g);
}

#elif defined(WEIR__NEON)

/* Two lanes: two groups (z >= 2), or two bits of the one group (z = 1). */
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
		uint64x2_t word = vcombine_u64(vld1_u64(block + weir__word_index(z, WEIR__GROUP(0), r)),
		                               vld1_u64(block + weir__word_index(z, WEIR__GROUP(1), r)));
		WEIR__UNROLL
		for (unsigned s = 0; s < steps; s++) {
			uint64x2_t source = vcombine_u64(vcreate_u64(WEIR__L_SOURCE(0)), vcreate_u64(WEIR__L_SOURCE(1)));
			int64x2_t shift = vcombine_s64(vdup_n_s64(WEIR__L_FIELD(0)), vdup_n_s64(WEIR__L_FIELD(1)));
			uint64x2_t bit = vandq_u64(vshlq_u64(source, shift), vdupq_n_u64(63));
			all = vandq_u64(all, vshlq_u64(word, vnegq_s64(vreinterpretq_s64_u64(bit))));
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

#undef WEIR__LANES8
#undef WEIR__LANES4
#undef WEIR__N
#undef WEIR__GROUP
#undef WEIR__BIT
#undef WEIR__J
#undef WEIR__L_SOURCE
#undef WEIR__L_FIELD
#undef WEIR__L_SECTOR
#undef WEIR__L_BASE
#undef WEIR__L_PERMUTE

/* ---- the insert: load all z words, return if every bit is there, then or; a locked instruction holds back the loads behind it ---- */

WEIR__INLINE int weir__set(uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
	uint64_t r2 = z * g > 10 ? weir__remix2(r) : 0, missing = 0, mask[8];
	uint64_t *word[8];
	WEIR__UNROLL
	for (unsigned i = 0; i < z; i++) {
		word[i] = block + weir__word_index(z, i, r);
		mask[i] = weir__word_mask(z, g, i, r, r2);
		missing |= mask[i] & ~weir__word_load_relaxed(word[i]);
	}
	if (!missing)
		return 0; /* WEIR_SEEN: a set bit is never written again, so hot keys bounce no line */
	if (z == 1) /* one or decides: exactly one of any number of threads sees its bits go from 0 to 1 */
		return (mask[0] & ~weir__word_fetch_or_relaxed(word[0], mask[0])) != 0;
	WEIR__UNROLL
	for (unsigned i = 0; i < z; i++)
		weir__word_or_relaxed(word[i], mask[i]);
	return 1; /* WEIR_NEW: a bit was 0 when it was looked at */
}

/* ---- any layout: z and g as variables, one word at a time; the insert looks at a word just before its own or ---- */

static inline bool weir__test_any(const uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
	uint64_t r2 = weir__remix2(r), all = 1;
	for (unsigned i = 0, j = 0; i < z; i++) {
		uint64_t word = weir__word_load_relaxed(block + weir__word_index(z, i, r));
		for (unsigned t = 0; t < g; t++, j++)
			all &= word >> weir__bit_index(z, j, r, r2);
	}
	return all & 1;
}

static inline int weir__set_any(uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
	uint64_t r2 = weir__remix2(r), missing = 0;
	for (unsigned i = 0, j = 0; i < z; i++) {
		uint64_t *word = block + weir__word_index(z, i, r), mask = 0;
		for (unsigned t = 0; t < g; t++, j++)
			mask |= UINT64_C(1) << weir__bit_index(z, j, r, r2);
		if (mask & ~weir__word_load_relaxed(word))
			missing |= mask & ~weir__word_fetch_or_relaxed(word, mask);
	}
	return missing != 0;
}

/* ---- the layouts that are compiled with z and g as constants: all that the calculator chooses, for each z it may be asked for.
 *      k = z * g goes up to 20, the fields that r and r2 hold. ---- */

#define WEIR__LAYOUTS(X) \
	X(1, 3) X(1, 4) X(1, 5) X(1, 6) X(1, 7) X(1, 8) \
	X(2, 2) X(2, 3) X(2, 4) X(2, 5) \
	X(4, 1) X(4, 2) X(4, 3) \
	X(8, 1) X(8, 2)

/* ---- the verbs: the default layout at 1 % and keys of eight bytes inline, the rest behind a call, so that a caller's loop stays as
 *      small as it is quick. No switch: its jump table costs more than the comparisons where indirect jumps are not predicted. ---- */

#define WEIR__OUTLINE static __attribute__((noinline, unused))

WEIR__OUTLINE uint64_t weir__hash_long(uint64_t seed, const void *key, size_t len)
{
	return XXH3_64bits_withSeed(key, len, seed);
}

#define WEIR__IS(z, g, Z, G) ((((z) ^ (Z)) | ((g) ^ (G))) == 0) /* one branch */

WEIR__OUTLINE bool weir__test_other(const uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
#define WEIR__TRY(Z, G) \
	if (WEIR__IS(z, g, Z, G)) \
		return weir__test(block, r, Z, G);
	WEIR__LAYOUTS(WEIR__TRY)
#undef WEIR__TRY
	return weir__test_any(block, r, z, g);
}

WEIR__OUTLINE int weir__set_other(uint64_t *block, uint64_t r, unsigned z, unsigned g)
{
#define WEIR__TRY(Z, G) \
	if (WEIR__IS(z, g, Z, G)) \
		return weir__set(block, r, Z, G);
	WEIR__LAYOUTS(WEIR__TRY)
#undef WEIR__TRY
	return weir__set_any(block, r, z, g);
}

/** As weir_hash(). */
WEIR__INLINE uint64_t weir_inline_hash(const struct weir_inline *v, const void *key, size_t len)
{
	return __builtin_expect(len == 8, 1) ? weir__hash8(v->flip8, key) : weir__hash_long(v->seed, key, len);
}

/** As weir_contains_hash(): false: certainly not there. The branch on the layout goes the same way every time. */
WEIR__INLINE bool weir_inline_contains_hash(const struct weir_inline *v, uint64_t h)
{
	const uint64_t *block = weir__block(v, h);
	uint64_t r = weir__remix(h);
	unsigned z = v->words_per_key, g = v->bits_per_word;
	return __builtin_expect(WEIR__IS(z, g, 2, 3), 1) ? weir__test(block, r, 2, 3) : weir__test_other(block, r, z, g);
}

/** As weir_contains(). */
WEIR__INLINE bool weir_inline_contains(const struct weir_inline *v, const void *key, size_t len)
{
	return weir_inline_contains_hash(v, weir_inline_hash(v, key, len));
}

/** As weir_insert_hash(): WEIR_NEW (1), WEIR_SEEN (0) or -EROFS. */
WEIR__INLINE int weir_inline_insert_hash(const struct weir_inline *v, uint64_t h)
{
	uint64_t *block = weir__block(v, h), r = weir__remix(h);
	if (v->insert_error)
		return v->insert_error;
	unsigned z = v->words_per_key, g = v->bits_per_word;
	return __builtin_expect(WEIR__IS(z, g, 2, 3), 1) ? weir__set(block, r, 2, 3) : weir__set_other(block, r, z, g);
}

/** As weir_insert(). */
WEIR__INLINE int weir_inline_insert(const struct weir_inline *v, const void *key, size_t len)
{
	return weir_inline_insert_hash(v, weir_inline_hash(v, key, len));
}

WEIR_END_DECLS

#ifdef WEIR__QUIET
#undef WEIR__QUIET
#pragma GCC diagnostic pop
#endif

#endif
