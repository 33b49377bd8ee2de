/* SPDX-License-Identifier: MIT
 * A location says where an image is (struct weir_location). This header lists the forms that each
 * call accepts, and opens locations. A call opens its input as a source, so files, streams, memory
 * and chains of deltas share one code path. A chain becomes a plain image in memory first. */
#ifndef WEIR_SRC_IMAGE_LOCATION_H
#define WEIR_SRC_IMAGE_LOCATION_H

#include "image/plain.h"

/* The forms that calls accept, as bits numbered by enum weir_location_form. */
enum {
	WEIR__TO_WRITE = 1 << WEIR_LOCATION_PATH | 1 << WEIR_LOCATION_FD | 1 << WEIR_LOCATION_ROOM,
	WEIR__TO_PARSE = 1 << WEIR_LOCATION_PATH | 1 << WEIR_LOCATION_FD |
	                 1 << WEIR_LOCATION_MEMORY,
	WEIR__TO_READ = WEIR__TO_PARSE | 1 << WEIR_LOCATION_CHAIN,
	WEIR__TO_LOAD = WEIR__TO_READ | 1 << WEIR_LOCATION_MAP | 1 << WEIR_LOCATION_MAP_MEMORY,
};

enum { WEIR__FD_NAME = 32 }; /* bytes for "file descriptor 1234567890" */

/* Return: a name for error messages. @fd: a buffer for the name of a descriptor. */
const char *weir__location_name(const struct weir_location *at, char fd[WEIR__FD_NAME]);
/* Check that @call accepts the form of the location, and that its path or memory is not NULL and
 * its descriptor is open.
 * @takes: the accepted forms, as bits.  Return: 0, -EINVAL or -EBADF. */
int weir__location_check(const struct weir_location *at, uint32_t takes, const char *call);

/* A location opened for reading. */
struct weir_opened {
	struct weir_source source;
	struct weir_plain plain; /* for a chain: the memory that the source reads */
	char name[WEIR__FD_NAME];
};

/* Check a location and open it.
 * @takes: the accepted forms, as bits.  @call: the calling function, for error messages.
 * @options: after weir__load_options(); for a chain, max_bytes and progress are used. */
int weir__location_open(struct weir_opened *out, const struct weir_location *from, uint32_t takes,
                        const char *call, const struct weir_load_options *options);
/* Close a location. @err: the result of reading it. Return: the result of weir__source_settle() for
 * @err. */
int weir__location_close(struct weir_opened *opened, int err);

/* Read the plain form of a location, and check every byte. The location must have one of the forms
 * WEIR__TO_READ. */
int weir__location_plain(struct weir_plain *out, const struct weir_location *from,
                         const char *call, const struct weir_load_options *options);

#endif
