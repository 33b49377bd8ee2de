/* SPDX-License-Identifier: MIT
 * The record of a mapped image, which is the origin of its filter's memory. */
#ifndef WEIR_SRC_IMAGE_MAP_H
#define WEIR_SRC_IMAGE_MAP_H

#include "image/preface.h"

struct weir_mapping {
	enum weir_map_mode mode;
	struct weir_image_head head; /* as it was checked; weir_seal() renews its checksums */
	unsigned char *image;        /* the mapping, of length bytes */
	uint64_t length;
	char name[];                 /* the path, for sentences */
};

/* The mapping of a filter, or NULL if it has none. */
static inline struct weir_mapping *weir__mapping_of(const struct weir_filter *f)
{
	return f->memory.origin;
}

#endif
