/* SPDX-License-Identifier: MIT
 * Where a fuse structure lies, for lookups, and what batches note of a key. */
#ifndef WEIR_SRC_KINDS_COMMON_FUSE_LEVEL_H
#define WEIR_SRC_KINDS_COMMON_FUSE_LEVEL_H

#include "kinds/common/fuse.h"

struct weir_fuse_level {
	struct weir_fuse part;
	const uint64_t *words; /* of the first part */
	uint64_t part_words;   /* from one part to the next */
	bool second;           /* it has bits for fingerprints: weir__fuse_value() */
	bool any;              /* its width is no constant, and not asked how its cells lie */
};

/* The part of a key: its seed, then its cells. */
WEIR__INLINE const unsigned char *weir__fuse_part_of(const struct weir_fuse_level *l, uint64_t h)
{
	return (const unsigned char *)(l->words +
	                               l->part_words * weir__fuse_part(h, l->part.part_bits));
}

/* The rows of a batch's notes: of a key its three cells, as bits of the structure, and what they
 * make together. A key's part begins with its seed: a line more, which its neighbours share. */
enum { WEIR_FUSE_ROW_CELL = 0, WEIR_FUSE_ROW_VALUE = 3 };

#endif
