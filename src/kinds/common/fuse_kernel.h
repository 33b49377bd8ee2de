/* SPDX-License-Identifier: MIT
 * Lookups in a fuse structure, compiled for one instruction set. In a batch, all three lines of
 * many keys are in flight. */
#ifndef WEIR_SRC_KINDS_COMMON_FUSE_KERNEL_H
#define WEIR_SRC_KINDS_COMMON_FUSE_KERNEL_H

#include "kind/batch.h"
#include "kinds/common/fuse.h"
#if defined(WEIR_KERNEL_AVX512)
#include "kinds/common/fuse_avx512.h"
#endif

WEIR__INLINE uint64_t weir__fuse_cell_of(const struct weir_fuse_level *l,
                                         const unsigned char *cells, uint64_t i)
{
	const uint64_t bit = i * l->part.width;
	return l->any ? weir__fuse_word(cells + (bit >> 3)) >> (bit & 7) :
	                weir__fuse_cell(cells, i, l->part.width);
}

WEIR__INLINE bool weir__fuse_look(const struct weir_fuse_level *l, uint64_t h)
{
	const unsigned width = l->part.width;
	const unsigned char *at = weir__fuse_part_of(l, h), *cells = at + WEIR_FUSE_SEED;
	const uint64_t m = weir__fuse_mix(h, weir__fuse_word(at));
	const struct weir_fuse_cells c = weir__fuse_cells(&l->part, h, m);
	const uint64_t all = weir__fuse_cell_of(l, cells, c.at[0]) ^
	                     weir__fuse_cell_of(l, cells, c.at[1]) ^
	                     weir__fuse_cell_of(l, cells, c.at[2]);
	return ((all ^ weir__fuse_value(m, width, l->second)) & ((UINT64_C(1) << width) - 1)) == 0;
}

/* ---- batches ---- */

enum { WEIR_FUSE_STEP = 8, WEIR_FUSE_LEAD = 48 };

WEIR__INLINE void weir__fuse_note_each(const struct weir_fuse_level *l, const uint64_t *hashes,
                                       unsigned n, struct weir_notes *notes, unsigned at)
{
	const unsigned char *from = (const unsigned char *)l->words;
	for (unsigned i = 0; i < n; i++) {
		const unsigned char *mine = weir__fuse_part_of(l, hashes[i]);
		const uint64_t m = weir__fuse_mix(hashes[i], weir__fuse_word(mine));
		const uint64_t first = 8 * (uint64_t)(mine + WEIR_FUSE_SEED - from);
		const struct weir_fuse_cells c = weir__fuse_cells(&l->part, hashes[i], m);
		for (unsigned j = 0; j < 3; j++)
			notes->row[WEIR_FUSE_ROW_CELL + j][at + i] =
				first + (uint64_t)c.at[j] * l->part.width;
		notes->row[WEIR_FUSE_ROW_VALUE][at + i] =
			weir__fuse_value(m, l->part.width, l->second);
	}
}

#ifndef FUSE_NOTE
#define FUSE_NOTE weir__fuse_note_each
#endif

WEIR__INLINE void weir__fuse_note(const struct weir_fuse_level *l, const uint64_t *hashes,
                                  unsigned n, bool far, struct weir_notes *notes, unsigned at)
{
	FUSE_NOTE(l, hashes, n, notes, at);
	for (unsigned j = 0; far && j < 3; j++)
		for (unsigned i = at; i < at + n; i++)
			__builtin_prefetch((const char *)l->words +
			                   (notes->row[WEIR_FUSE_ROW_CELL + j][i] >> 3), 0,
			                   WEIR_TO_L2);
}

/* Return: the bits of the structure from @bit on. */
WEIR__INLINE uint64_t weir__fuse_bits_at(const struct weir_fuse_level *l, uint64_t bit)
{
	const unsigned char *at = (const unsigned char *)l->words + (bit >> 3);
	return l->any                 ? weir__fuse_word(at) >> (bit & 7) :
	       l->part.width == 8     ? *at :
	       l->part.width % 8 == 0 ? weir__fuse_word(at) :
	                                weir__fuse_word(at) >> (bit & 7);
}

WEIR__INLINE uint64_t weir__fuse_test_one(const struct weir_fuse_level *l,
                                          const struct weir_notes *notes, unsigned at)
{
	const uint64_t all = notes->row[WEIR_FUSE_ROW_VALUE][at] ^
	                     weir__fuse_bits_at(l, notes->row[WEIR_FUSE_ROW_CELL][at]) ^
	                     weir__fuse_bits_at(l, notes->row[WEIR_FUSE_ROW_CELL + 1][at]) ^
	                     weir__fuse_bits_at(l, notes->row[WEIR_FUSE_ROW_CELL + 2][at]);
	return (all & ((UINT64_C(1) << l->part.width) - 1)) == 0;
}

WEIR__INLINE uint64_t weir__fuse_test(const struct weir_fuse_level *l,
                                      const struct weir_notes *notes, unsigned at, unsigned n)
{
	uint64_t answers = 0;
	if (n == WEIR_FUSE_STEP) {
		WEIR__UNROLL
		for (unsigned i = 0; i < WEIR_FUSE_STEP; i++)
			answers |= weir__fuse_test_one(l, notes, at + i) << i;
		return answers;
	}
	for (unsigned i = 0; i < n; i++)
		answers |= weir__fuse_test_one(l, notes, at + i) << i;
	return answers;
}

#endif
