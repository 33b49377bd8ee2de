/* SPDX-License-Identifier: MIT
 * What is kept of a mapped image. */
#ifndef WEIR_SRC_IMAGE_MAP_H
#define WEIR_SRC_IMAGE_MAP_H

#include "image/io.h"

struct weir_mapping {
	enum weir_map_mode mode;
	struct weir_image_head head; /* as it was when it was checked */
	unsigned char *image;
	uint64_t length;
	char name[];
};

/* Mark a live mapping's file live, on the disk too, before its first insert (seal.c). */
int weir__mark_live(struct weir_mapping *mapping);

#endif
