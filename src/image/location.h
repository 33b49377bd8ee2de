/* SPDX-License-Identifier: MIT
 * Where an image is or goes (struct weir_location): what each call takes, and how the bytes are
 * reached. A call opens what it reads as a source, so files, streams, memory and chains of deltas
 * are one path through image/; a chain is made into a plain image in memory first. */
#ifndef WEIR_SRC_IMAGE_LOCATION_H
#define WEIR_SRC_IMAGE_LOCATION_H

#include "image/plain.h"

/* The forms that calls take, as bits by enum weir_location_form. */
enum {
	WEIR__TO_WRITE = 1 << WEIR_LOCATION_PATH | 1 << WEIR_LOCATION_FD | 1 << WEIR_LOCATION_ROOM,
	WEIR__TO_PARSE = 1 << WEIR_LOCATION_PATH | 1 << WEIR_LOCATION_FD |
	                 1 << WEIR_LOCATION_MEMORY,
	WEIR__TO_READ = WEIR__TO_PARSE | 1 << WEIR_LOCATION_CHAIN,
	WEIR__TO_LOAD = WEIR__TO_READ | 1 << WEIR_LOCATION_MAP | 1 << WEIR_LOCATION_MAP_MEMORY,
};

enum { WEIR__FD_NAME = 32 }; /* bytes for "file descriptor 1234567890" */

/* One for sentences. @fd: room for that of a descriptor. */
const char *weir__location_name(const struct weir_location *at, char fd[WEIR__FD_NAME]);
/* Does @call take it, and is what it names there: a path or memory that is not NULL, a descriptor
 * that is open?  @takes: bits as above.  Return: 0, -EINVAL or -EBADF. */
int weir__location_check(const struct weir_location *at, uint32_t takes, const char *call);

/* A location that is read. */
struct weir_opened {
	struct weir_source source;
	struct weir_plain plain; /* of a chain, which the source reads; else without memory */
	char name[WEIR__FD_NAME];
};

/* Check a location, and open it.
 * @takes: of WEIR__TO_READ.  @call: as for weir__location_check().
 * @options: checked; max_bytes and progress are taken of them, for a chain. */
int weir__location_open(struct weir_opened *out, const struct weir_location *from, uint32_t takes,
                        const char *call, const struct weir_load_options *options);
/* Return: @err, of reading it, as weir__source_settle() says. */
int weir__location_close(struct weir_opened *opened, int err);

/* Read the plain form of a location of WEIR__TO_READ, and check every byte. */
int weir__location_plain(struct weir_plain *out, const struct weir_location *from,
                         const char *call, const struct weir_load_options *options);

#endif
