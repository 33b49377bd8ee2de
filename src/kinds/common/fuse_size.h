/* SPDX-License-Identifier: MIT
 * How large a fuse structure is for a number of keys. */
#ifndef WEIR_SRC_KINDS_COMMON_FUSE_SIZE_H
#define WEIR_SRC_KINDS_COMMON_FUSE_SIZE_H

#include "kinds/common/fuse.h"

/* The fewest segments for so many keys, in as many parts as they need. */
struct weir_fuse weir__fuse_for(uint64_t keys, unsigned width);
/* As many segments as a part of so many lines has room for. */
uint32_t weir__fuse_segments_within(uint64_t lines, unsigned width, unsigned segment_bits);
/* Is there such a structure? The numbers may come from a damaged image. */
bool weir__fuse_sound(uint32_t width, uint32_t segment_bits, uint32_t segments,
                      uint32_t part_bits);

static inline uint32_t weir__fuse_segments(const struct weir_fuse *part)
{
	return (uint32_t)(part->cells >> part->segment_bits);
}

#endif
