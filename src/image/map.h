/* SPDX-License-Identifier: MIT
 * What is kept of a mapped image: the origin of its filter's memory. */
#ifndef WEIR_SRC_IMAGE_MAP_H
#define WEIR_SRC_IMAGE_MAP_H

#include "image/preface.h"

struct weir_mapping {
	enum weir_map_mode mode;
	struct weir_image_head head; /* as it was when it was checked */
	unsigned char *image;
	uint64_t length;
	char name[];
};

/* NULL: the filter is not mapped. */
static inline struct weir_mapping *weir__mapping_of(const struct weir_filter *f)
{
	return f->memory.origin;
}

#endif
