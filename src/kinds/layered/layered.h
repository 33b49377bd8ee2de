/* SPDX-License-Identifier: MIT
 * The layered kind: exact on two lists, of which the include list is answered true and the exclude
 * list false. Two levels, each a 3-wise fuse structure (common/fuse.h). The first has fingerprints
 * of w bits of the include list, and lets pass what has the fingerprint of its cells. The second
 * has one bit for every key of the two lists that passes: of the include list all, of the exclude
 * list one in 2^w. A key is answered true if it passes the first and its bit in the second says
 * so: of keys in neither list one in 2^(w + 1).
 * Source: the two levels of Clubcards (Schanck 2025), which followed CRLite (Larisch et al. 2017).
 *
 * The layout, frozen by golden files. The array is the parts of the first level, those of the
 * second, and as many lines of zeros as make it a multiple of the shards. A part has the fewest
 * lines that its cells take. The two have segments and parts of their own number and length. */
#ifndef WEIR_SRC_KINDS_LAYERED_LAYERED_H
#define WEIR_SRC_KINDS_LAYERED_LAYERED_H

#include "config.h"
#include "kind/kind.h"
#include "kinds/common/fuse.h"

/* The fields of a shape: those of the first level (WEIR_FUSE_WIDTH to WEIR_FUSE_PART_BITS), then
 * those of the second, whose width is 1. */
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

/* Lines of all parts. */
static inline uint64_t weir__level_lines(const struct weir_fuse *part)
{
	return weir__fuse_lines(part) << part->part_bits;
}

/* ---- one kernel for each instruction set ---- */

extern const struct weir_kernel weir__layered_scalar, weir__layered_avx2, weir__layered_avx512,
	weir__layered_neon;

#endif
