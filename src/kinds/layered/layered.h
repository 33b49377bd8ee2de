/* SPDX-License-Identifier: MIT
 * The layered kind is exact on two lists: it answers true for the include list and false for the
 * exclude list. It has two levels, each a 3-wise fuse structure (common/fuse.h). The first level
 * has w-bit fingerprints of the include list, and a key passes if its fingerprint matches its
 * cells. The second level has one bit for each key of the two lists that passes: all of the include
 * list, and one in 2^w of the exclude list. A key is answered true if it passes the first level and
 * the second level answers true. A key in neither list is answered true with a chance of one in
 * 2^(w + 1).
 * Source: the two levels of Clubcards (Schanck 2025), which followed CRLite (Larisch et al. 2017).
 *
 * Golden files freeze the layout. The array has the parts of the first level, the parts of the
 * second level, and zero lines up to a multiple of the shards. A part has the fewest lines for its
 * cells. Each level has its own segment length, number of segments and number of parts. */
#ifndef WEIR_SRC_KINDS_LAYERED_LAYERED_H
#define WEIR_SRC_KINDS_LAYERED_LAYERED_H

#include "config.h"
#include "kind/kind.h"
#include "kinds/common/fuse.h"

/* Indices in a shape: first those of the first level (WEIR_FUSE_WIDTH to WEIR_FUSE_PART_BITS), then
 * those of the second level, whose width is 1. */
enum {
	WEIR_SECOND_SEGMENT_BITS = WEIR_FUSE_PART_BITS + 1,
	WEIR_SECOND_SEGMENTS,
	WEIR_SECOND_PART_BITS,
};

static inline struct weir_fuse weir__second_of(const struct weir_shape *shape)
{
	return weir__fuse_shaped(1, shape->field[WEIR_SECOND_SEGMENT_BITS],
	                         shape->field[WEIR_SECOND_SEGMENTS],
	                         shape->field[WEIR_SECOND_PART_BITS]);
}

/* Return: the lines of all parts of a level. */
static inline uint64_t weir__level_lines(const struct weir_fuse *part)
{
	return weir__fuse_lines(part) << part->part_bits;
}

/* ---- one kernel for each instruction set ---- */

extern const struct weir_kernel weir__layered_scalar, weir__layered_avx2, weir__layered_avx512,
	weir__layered_neon;

#endif
