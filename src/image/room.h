/* SPDX-License-Identifier: MIT
 * Memory that the plain form of an image is put into. */
#ifndef WEIR_SRC_IMAGE_ROOM_H
#define WEIR_SRC_IMAGE_ROOM_H

#include "image/preface.h"

struct weir_room {
	unsigned char *memory;
	uint64_t bytes;
	uint64_t end;           /* of what is there so far */
	const char *name;       /* of the image */
	unsigned char *members; /* the rows of a compound's table */
};

/* Read all that is behind a preface, each bit checked, and put the image's plain form into the
 * room: byte for byte what weir_save() writes without compression. */
int weir__room_put(struct weir_room *room, const struct weir_preface *p, struct weir_source *source,
                   const struct weir_load_options *options);

#endif
