/* SPDX-License-Identifier: MIT
 * The place of an image (struct weir_location): the forms that each call takes, and access to the
 * bytes. A call opens its input as a source, so files, streams, memory and chains of deltas share
 * one path through image/. A chain is first turned into a plain image in memory. */
#ifndef WEIR_SRC_IMAGE_LOCATION_H
#define WEIR_SRC_IMAGE_LOCATION_H

#include "image/plain.h"

/* The forms that calls take, as bits numbered by enum weir_location_form. */
enum {
	WEIR__TO_WRITE = 1 << WEIR_LOCATION_PATH | 1 << WEIR_LOCATION_FD | 1 << WEIR_LOCATION_ROOM,
	WEIR__TO_PARSE = 1 << WEIR_LOCATION_PATH | 1 << WEIR_LOCATION_FD |
	                 1 << WEIR_LOCATION_MEMORY,
	WEIR__TO_READ = WEIR__TO_PARSE | 1 << WEIR_LOCATION_CHAIN,
	WEIR__TO_LOAD = WEIR__TO_READ | 1 << WEIR_LOCATION_MAP | 1 << WEIR_LOCATION_MAP_MEMORY,
};

enum { WEIR__FD_NAME = 32 }; /* bytes for "file descriptor 1234567890" */

/* A name for sentences. @fd: room for the name of a descriptor. */
const char *weir__location_name(const struct weir_location *at, char fd[WEIR__FD_NAME]);
/* Does @call take this form, and is it usable: a path or memory that is not NULL, an open
 * descriptor?
 * @takes: bits as above.  Return: 0, -EINVAL or -EBADF. */
int weir__location_check(const struct weir_location *at, uint32_t takes, const char *call);

/* A location opened for reading. */
struct weir_opened {
	struct weir_source source;
	struct weir_plain plain; /* for a chain: the source reads it; otherwise without memory */
	char name[WEIR__FD_NAME];
};

/* Check a location and open it.
 * @takes: bits of WEIR__TO_READ.  @call: as for weir__location_check().
 * @options: checked; max_bytes and progress are used, for a chain. */
int weir__location_open(struct weir_opened *out, const struct weir_location *from, uint32_t takes,
                        const char *call, const struct weir_load_options *options);
/* @err: the error of reading it. Return: @err after weir__source_settle(). */
int weir__location_close(struct weir_opened *opened, int err);

/* Read the plain form of a location of WEIR__TO_READ, and check every byte. */
int weir__location_plain(struct weir_plain *out, const struct weir_location *from,
                         const char *call, const struct weir_load_options *options);

#endif
