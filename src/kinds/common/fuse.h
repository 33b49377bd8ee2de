/* SPDX-License-Identifier: MIT
 * A 3-wise binary fuse structure maps each key of a fixed set to w bits, in about 1.13 w bits a
 * key. The XOR of the key's three cells of w bits is the result. For other keys the result is
 * arbitrary.
 * Source: Graf and Lemire 2022 (binary fuse filters); Dietzfelbinger and Walzer 2019 (segments).
 *
 * Golden files freeze the layout. The array is cut into parts of one size, by the top bits of a
 * hash h. A part has its seed (8 bytes), then segments * L cells, L = 2^segment_bits. Cell i is the
 * w bits from bit i * w on; bit b is bit b % 8 of byte b / 8. At least 8 bytes of zeros end a part.
 *
 *     g    = h << part_bits                         the bits of h below the part's number
 *     m    = mix(h ^ seed):  x = (h ^ seed) * C1,  x ^= x >> 32,  m = x * C2
 *     c_0  = high half of g * ((segments - 2) * L)
 *     c_1  = (c_0 + L) with its low segment_bits xor'ed with those of m >> 18
 *     c_2  = (c_0 + 2 L) with its low segment_bits xor'ed with those of m
 *
 * So the three cells lie in three consecutive segments. c_0 does not depend on the seed, so keys in
 * the order of their hashes are in the order of their segments, for every seed.
 *
 * Many assignments give each key its bits. The rules below select one assignment, so that equal
 * sets have equal images. The seed is that of the first try t = 0, 1, ... that peels:
 *
 *     seed = mix(S ^ (part << 8 | t) * C2),  S the seed of the filter's hash
 *
 * A second level (layered.h) has t = 128, 129, ..., and weir__fuse_value() defines the bits of its
 * keys.
 *
 * Peeling repeatedly removes a key that is alone in one of its cells. First the cells with one key
 * are pushed on a stack in ascending order. Then the top cell is popped, again and again. If the
 * cell still has one key, that key is removed. Each of its other two cells is pushed if it now has
 * one key: first the cell that follows (c_1 after c_0, c_2 after c_1, c_0 after c_2), then the
 * other. If no key is left at the end, the keys get their bits in the reverse order, each in the
 * cell by which it was removed. All other cells are 0. */
#ifndef WEIR_SRC_KINDS_COMMON_FUSE_H
#define WEIR_SRC_KINDS_COMMON_FUSE_H

#include <weir/inline.h>
#include "kind/kind.h"

/* Indices in a shape. */
enum { WEIR_FUSE_WIDTH, WEIR_FUSE_SEGMENT_BITS, WEIR_FUSE_SEGMENTS, WEIR_FUSE_PART_BITS };

enum {
	WEIR_FUSE_MOST_WIDTH = 32,
	WEIR_FUSE_MOST_SEGMENT_BITS = 18, /* a limit, so that c_1 and c_2 use different bits of m */
	WEIR_FUSE_MOST_PART_BITS = 28,
	WEIR_FUSE_SECOND_TRY = 128, /* a second level's first try, so levels have different seeds */
	WEIR_FUSE_SEED = 8,  /* bytes before the cells */
	WEIR_FUSE_SLACK = 8, /* bytes after the cells: a cell is read as a 64-bit word */
};
#define WEIR_FUSE_MOST_CELLS (UINT64_C(1) << 28) /* the most cells in a part */

#define WEIR_FUSE_C1 UINT64_C(0x9E3779B97F4A7C15)
#define WEIR_FUSE_C2 UINT64_C(0xD6E8FEB86659FD93)

/* The size of a part. */
struct weir_fuse {
	unsigned width, segment_bits, part_bits;
	uint64_t cells; /* segments << segment_bits */
	uint64_t range; /* the number of values of c_0: all cells but those of two segments */
};

static inline struct weir_fuse weir__fuse_shaped(unsigned width, unsigned segment_bits,
                                                 uint64_t segments, unsigned part_bits)
{
	return (struct weir_fuse){ .width = width,
		                   .segment_bits = segment_bits,
		                   .part_bits = part_bits,
		                   .cells = segments << segment_bits,
		                   .range = (segments - 2) << segment_bits };
}

/* Return: the size of each part, from the fields WEIR_FUSE_WIDTH to WEIR_FUSE_PART_BITS of a
 * shape. */
static inline struct weir_fuse weir__fuse_of(const struct weir_shape *shape)
{
	return weir__fuse_shaped(shape->field[WEIR_FUSE_WIDTH],
	                         shape->field[WEIR_FUSE_SEGMENT_BITS],
	                         shape->field[WEIR_FUSE_SEGMENTS],
	                         shape->field[WEIR_FUSE_PART_BITS]);
}

/* Return: the lines of 64 bytes in a part. */
static inline uint64_t weir__fuse_lines(const struct weir_fuse *part)
{
	return (WEIR_FUSE_SEED + (part->cells * part->width + 7) / 8 + WEIR_FUSE_SLACK + 63) / 64;
}

WEIR__INLINE uint64_t weir__fuse_mix(uint64_t h, uint64_t seed)
{
	uint64_t m = (h ^ seed) * WEIR_FUSE_C1;
	m ^= m >> 32;
	return m * WEIR_FUSE_C2;
}

/* Return: the seed of try @try to build part @part. */
static inline uint64_t weir__fuse_seed(uint64_t hash_seed, uint64_t part, unsigned try)
{
	return weir__fuse_mix(hash_seed, (part << 8 | try) * WEIR_FUSE_C2);
}

/* Return: the number of a hash's part. Two shifts, since a shift by 64 is undefined. */
WEIR__INLINE uint64_t weir__fuse_part(uint64_t h, unsigned part_bits)
{
	return h >> 1 >> (63 - part_bits);
}

/* The three cells of a key. */
struct weir_fuse_cells {
	uint32_t at[3];
};

WEIR__INLINE struct weir_fuse_cells weir__fuse_cells(const struct weir_fuse *part, uint64_t h,
                                                     uint64_t m)
{
	const uint32_t length = UINT32_C(1) << part->segment_bits, low = length - 1;
	const uint32_t first = (uint32_t)weir__mulhi64(h << part->part_bits, part->range);
	return (struct weir_fuse_cells){ {
		first,
		(first + length) ^ ((uint32_t)(m >> 18) & low),
		(first + 2 * length) ^ ((uint32_t)m & low),
	} };
}

/* Return: a key's fingerprint. It is the top @width bits of m, 1 to 32 of them, or 1 if they are 0.
 * So an array of zeros has no key. */
WEIR__INLINE uint32_t weir__fuse_fingerprint(uint64_t m, unsigned width)
{
	const uint32_t top = (uint32_t)(m >> 32) >> (32 - width);
	return top + !top;
}

/* Return: the value that the XOR of a key's three cells must have. In a first or only level it is
 * the fingerprint. In a second level it is one bit: the top bit of m for a key that the level
 * answers true, and the opposite bit for a key that it answers false. So the level gives other keys
 * a random answer, whatever the share of keys that it answers true. */
WEIR__INLINE uint32_t weir__fuse_value(uint64_t m, unsigned width, bool second)
{
	return second ? (uint32_t)(m >> 63) : weir__fuse_fingerprint(m, width);
}

/* ---- cells ---- */

WEIR__INLINE uint64_t weir__fuse_word(const unsigned char *at)
{
	uint64_t word;
	__builtin_memcpy(&word, at, sizeof word);
	return WEIR__LE64(word);
}

/* Return: cell i in the low bits; the bits above the width are arbitrary.  @cells: the bytes after
 * the part's seed. */
WEIR__INLINE uint64_t weir__fuse_cell(const unsigned char *cells, uint64_t i, unsigned width)
{
	if (width == 8)
		return cells[i];
	if (width % 8 == 0)
		return weir__fuse_word(cells + i * (width / 8));
	return weir__fuse_word(cells + (i * width >> 3)) >> (i * width & 7);
}

static inline void weir__fuse_put(unsigned char *cells, uint64_t i, unsigned width, uint32_t value)
{
	unsigned char *at = cells + (i * width >> 3);
	const unsigned shift = i * width & 7;
	const uint64_t mask = (UINT64_C(1) << width) - 1;
	const uint64_t word = (weir__fuse_word(at) & ~(mask << shift)) | (value & mask) << shift;
	const uint64_t bytes = WEIR__LE64(word);
	__builtin_memcpy(at, &bytes, sizeof bytes);
}

/* ---- a structure in memory, for lookups, and a batch's notes of a key ---- */

struct weir_fuse_level {
	struct weir_fuse part;
	const uint64_t *words; /* where the first part begins */
	uint64_t part_words;   /* words of each part */
	bool second;           /* true for a second level: weir__fuse_value() gives bits */
	bool any;              /* the width is not a constant, so read cells of any width */
};

/* Return: the bytes of a key's part. They begin with the part's seed. */
WEIR__INLINE const unsigned char *weir__fuse_part_of(const struct weir_fuse_level *l, uint64_t h)
{
	return (const unsigned char *)(l->words +
	                               l->part_words * weir__fuse_part(h, l->part.part_bits));
}

/* The rows of a batch's notes. ROW_CELL and the two rows after it have the bit positions of a key's
 * three cells in the structure. ROW_VALUE has the value that their XOR must have. To read the seed
 * of a part takes one more cache line, which the keys of the part share. */
enum { WEIR_FUSE_ROW_CELL = 0, WEIR_FUSE_ROW_VALUE = 3 };

/* ---- the size of a structure for a number of keys ---- */

/* Return: the fewest segments for @keys keys, in as many parts as they need. */
struct weir_fuse weir__fuse_for(uint64_t keys, unsigned width);
/* Return: the most segments that fit in a part of @lines lines. */
uint32_t weir__fuse_segments_within(uint64_t lines, unsigned width, unsigned segment_bits);
/* Return: true if these numbers describe a structure. They may come from a damaged image. */
bool weir__fuse_sound(uint32_t width, uint32_t segment_bits, uint32_t segments,
                      uint32_t part_bits);

static inline uint32_t weir__fuse_segments(const struct weir_fuse *part)
{
	return (uint32_t)(part->cells >> part->segment_bits);
}

/* ---- the number of keys in a fuse structure, from its cells or a sample of them ---- */

/* Add lines first .. first+n-1 of the structure to sum.  @part_lines: the lines of each part. */
void weir__fuse_measure(const struct weir_fuse *part, const uint64_t *words, uint64_t part_lines,
                        uint64_t first, uint64_t n, struct weir_measure *sum);
/* Return: the number of keys. @sum: from weir__fuse_measure(), for a structure whose cells have
 * fingerprints.  @whole: the sum covers all lines. */
double weir__fuse_keys(const struct weir_fuse *part, const struct weir_measure *sum, bool whole);

#endif
