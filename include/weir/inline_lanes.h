/* SPDX-License-Identifier: MIT
 * The lookup for all inlined layouts, for <weir/inline.h>. Do not include this header directly.
 * Several layouts share one function body and differ only by vectors from a table.
 *
 * The test loads the vectors before it branches on the layout. Compilers move out of a loop only
 * code that every round executes, so a loop of lookups loads the vectors once. After a branch on
 * the layout it would load them for each key. gcc -O3 also splits such a loop into one loop for
 * each branch. */
#ifndef WEIR_INLINE_LANES_H
#define WEIR_INLINE_LANES_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/inline_layouts.h>
#include <weir/inline_test.h>

#if (defined(WEIR__AVX512) || defined(WEIR__AVX2)) && !defined(WEIR__FIXED_Z)
#define WEIR__TEST_LANES 1

WEIR_BEGIN_DECLS

/* ---- the tables: a row of eight lanes for each layout. Lane l tests a bit of group l * z / 8.
 *      Lanes past the group's last bit test its first bit again. A lane whose field is not in r
 *      uses field 9, the last field in r ---- */

/* The row of a layout: 2z + g, modulo 8. Each of the WEIR__DEFAULT_LAYOUTS has a row of its own.
 * Two rows are empty. */
#define WEIR__ROW_OF(layout) ((((layout) >> 15) + ((layout) >> 8)) & 7)
#define WEIR__ROWS(f) \
	{ f(2, 4), f(0, 0), f(4, 2), f(4, 3), f(0, 0), f(1, 3), f(2, 2), f(2, 3) }
#define WEIR__LANES(f, z, g) \
	{ f(0, z, g), f(1, z, g), f(2, z, g), f(3, z, g), \
	  f(4, z, g), f(5, z, g), f(6, z, g), f(7, z, g) }

/* Functions of inline_test.h as constants, to initialize tables in C. In an empty row z is 0. */
#define WEIR__PER_GROUP(z) ((z) == 1 ? 8 : (z) == 2 ? 4 : (z) == 4 ? 2 : 1)
#define WEIR__SECTOR_BITS(z) ((z) == 1 ? 3 : (z) == 2 ? 2 : (z) == 4 ? 1 : 0)
#define WEIR__GROUP(l, z) ((l) / WEIR__PER_GROUP(z))
#define WEIR__BIT(l, z, g) ((l) % WEIR__PER_GROUP(z) < (g) ? (l) % WEIR__PER_GROUP(z) : 0)
#define WEIR__J(l, z, g) (WEIR__GROUP(l, z) * (g) + WEIR__BIT(l, z, g))
#define WEIR__L_FIELD(l, z, g) \
	58 - (z) * WEIR__SECTOR_BITS(z) - 6 * (WEIR__J(l, z, g) < 10 ? WEIR__J(l, z, g) : 9)

#if defined(WEIR__AVX512)

struct weir__lanes {
	uint64_t sector[8]; /* shift that brings the group's sector bits in r down to bit 0 */
	uint64_t keep[8];   /* mask of the sector bits after that shift */
	uint64_t base[8];   /* the group's first word */
	uint64_t field[8];  /* shift that brings the bit's field in r down to bit 0 */
	uint64_t ones[8];   /* all 1, in the table so that no loop computes them for each key */
};

#define WEIR__L_SECTOR(l, z, g) (64 - (WEIR__GROUP(l, z) + 1) * WEIR__SECTOR_BITS(z)) % 64
#define WEIR__L_KEEP(l, z, g) WEIR__PER_GROUP(z) - 1
#define WEIR__L_BASE(l, z, g) WEIR__GROUP(l, z) * WEIR__PER_GROUP(z)
#define WEIR__L_ONE(l, z, g) 1
#define WEIR__ROW(z, g) \
	{ WEIR__LANES(WEIR__L_SECTOR, z, g), WEIR__LANES(WEIR__L_KEEP, z, g), \
	  WEIR__LANES(WEIR__L_BASE, z, g), WEIR__LANES(WEIR__L_FIELD, z, g), \
	  WEIR__LANES(WEIR__L_ONE, z, g) }
static const struct weir__lanes weir__lanes[8] __attribute__((aligned(64), unused)) =
	WEIR__ROWS(WEIR__ROW);

/* The layout of each row whose eight lanes test all bits of a key; 0 for all other rows. */
#define WEIR__WHOLE(z, g) (z) * (g) <= 8 ? WEIR__LAYOUT(z, g) : 0
static const uint32_t weir__whole[8] __attribute__((unused)) = WEIR__ROWS(WEIR__WHOLE);

WEIR__INLINE __m512i weir__load8(const uint64_t lanes[8])
{
	return _mm512_load_si512((const void *)lanes);
}

/* With a full mask the masked intrinsics compile to the unmasked instructions. The unmasked
 * intrinsics make g++ 12 warn of its own undefined registers (GCC bug 105593). */
WEIR__INLINE __m512i weir__shr8(__m512i x, __m512i by)
{
	return _mm512_maskz_srlv_epi64(0xff, x, by);
}
WEIR__INLINE __m512i weir__ror8(__m512i x, __m512i by)
{
	return _mm512_maskz_rorv_epi64(0xff, x, by);
}

/* Return: 1 if all bits are set, else 0; -1 if the layout is not in WEIR__DEFAULT_LAYOUTS. */
WEIR__INLINE int weir__test_lanes(uint32_t layout, const uint64_t *block, uint64_t r)
{
	const struct weir__lanes *row = &weir__lanes[WEIR__ROW_OF(layout)];
	uint32_t whole = weir__whole[WEIR__ROW_OF(layout)];
	__m512i r8 = _mm512_set1_epi64((long long)r), ones = weir__load8(row->ones);
	/* base | (sector & keep) */
	__m512i index = _mm512_ternarylogic_epi64(weir__shr8(r8, weir__load8(row->sector)),
	                                          weir__load8(row->base), weir__load8(row->keep),
	                                          0xec);
	__m512i words = _mm512_maskz_permutexvar_epi64(0xff, index, weir__load8(block));
	__m512i all = weir__ror8(words, weir__shr8(r8, weir__load8(row->field)));
	if (__builtin_expect(layout == whole, 1))
		return _mm512_testn_epi64_mask(all, ones) == 0;
	if (layout != WEIR__LAYOUT(4, 3))
		return -1;
	/* the bits that the table does not test: fields 2, 5 and 8 of r, 10 and 11 of r2 */
	__m512i source = _mm512_mask_set1_epi64(r8, 0xc0, (long long)weir__remix2(r));
	__m512i field = weir__shr8(source, _mm512_set_epi64(52, 58, 6, 6, 24, 24, 42, 42));
	all = _mm512_and_si512(all, weir__ror8(words, field));
	return _mm512_testn_epi64_mask(all, ones) == 0;
}

#else

struct weir__lanes {
	uint64_t field[8]; /* shift that brings the bit's field in r down to bit 0. A vector uses
	                      the first four lanes, and another vector the last four */
};

#define WEIR__ROW(z, g) { WEIR__LANES(WEIR__L_FIELD, z, g) }
static const struct weir__lanes weir__lanes[8] __attribute__((aligned(64), unused)) =
	WEIR__ROWS(WEIR__ROW);

WEIR__INLINE __m256i weir__load4(const uint64_t lanes[4])
{
	return _mm256_load_si256((const __m256i *)(const void *)lanes);
}

/* Return: @word, with each lane's bit shifted down to bit 0. */
WEIR__INLINE __m256i weir__down4(__m256i word, __m256i source, __m256i shift)
{
	__m256i field = _mm256_srlv_epi64(source, shift);
	return _mm256_srlv_epi64(word, _mm256_and_si256(field, _mm256_set1_epi64x(63)));
}

WEIR__INLINE bool weir__all4(__m256i down)
{
	return _mm256_testc_si256(down, _mm256_set1_epi64x(1)) != 0;
}

/* The test for z = 4 and g = 2 or 3. For g = 3 a third vector tests the third bit of each group,
 * and fields 10 and 11 are in r2: the second vector uses field 10, the third vector field 11. */
WEIR__INLINE bool weir__test_4(const uint64_t *block, uint64_t r, unsigned g, __m256i low,
                               __m256i high)
{
	__m256i source = _mm256_set1_epi64x((long long)r);
	__m256i word0 = weir__part_words(block, 0, 4, r), word1 = weir__part_words(block, 1, 4, r);
	__m256i all = weir__down4(word0, source, low);
	if (g == 3) {
		__m256i r2 = _mm256_set1_epi64x((long long)weir__remix2(r));
		source = _mm256_blend_epi32(source, r2, 0xc0);
		high = _mm256_set_epi64x(58, 0, 12, 18); /* fields 6, 7, 9 and 10 */
		/* fields 2, 8, 5 and 11, of groups 0, 2, 1 and 3 */
		__m256i third = weir__down4(_mm256_unpacklo_epi64(word0, word1), source,
		                            _mm256_set_epi64x(52, 24, 6, 42));
		all = _mm256_and_si256(all, third);
	}
	return weir__all4(_mm256_and_si256(all, weir__down4(word1, source, high)));
}

/* Return: 1 if all bits are set, else 0; -1 if the layout is not in WEIR__DEFAULT_LAYOUTS. */
WEIR__INLINE int weir__test_lanes(uint32_t layout, const uint64_t *block, uint64_t r)
{
	const struct weir__lanes *row = &weir__lanes[WEIR__ROW_OF(layout)];
	__m256i low = weir__load4(row->field), high = weir__load4(row->field + 4);
	__m256i r4 = _mm256_set1_epi64x((long long)r);
	if (layout - WEIR__LAYOUT(2, 2) <= WEIR__LAYOUT(2, 4) - WEIR__LAYOUT(2, 2)) {
		__m256i one = weir__down4(weir__part_words(block, 0, 2, r), r4, low);
		__m256i two = weir__down4(weir__part_words(block, 1, 2, r), r4, high);
		return weir__all4(_mm256_and_si256(one, two));
	}
	if (layout == WEIR__LAYOUT(1, 3))
		return weir__all4(weir__down4(weir__part_words(block, 0, 1, r), r4, low));
	if (layout == WEIR__LAYOUT(4, 2))
		return weir__test_4(block, r, 2, low, high);
	if (layout == WEIR__LAYOUT(4, 3))
		return weir__test_4(block, r, 3, low, high);
	return -1;
}

#endif

#undef WEIR__ROWS
#undef WEIR__LANES
#undef WEIR__PER_GROUP
#undef WEIR__SECTOR_BITS
#undef WEIR__GROUP
#undef WEIR__BIT
#undef WEIR__J
#undef WEIR__L_FIELD
#undef WEIR__L_SECTOR
#undef WEIR__L_KEEP
#undef WEIR__L_BASE
#undef WEIR__L_ONE
#undef WEIR__ROW
#undef WEIR__WHOLE

WEIR_END_DECLS

#endif

#endif
