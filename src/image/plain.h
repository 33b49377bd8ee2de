/* SPDX-License-Identifier: MIT
 * The plain form of a whole image in its own memory: byte for byte what weir_save() writes without
 * compression, whatever form the file has. */
#ifndef WEIR_SRC_IMAGE_PLAIN_H
#define WEIR_SRC_IMAGE_PLAIN_H

#include "image/preface.h"

struct weir_plain {
	struct weir_memory memory; /* its bits are the image, with zeros from there up to room */
	uint64_t bytes, room;
	uint64_t commit, generation; /* as in the head */
};

static inline unsigned char *weir__plain_bytes(const struct weir_plain *plain)
{
	return (unsigned char *)plain->memory.bits;
}

/* Read an image into its plain form, and check every byte. @options: checked; max_bytes and
 * progress are used. */
int weir__plain_read(struct weir_plain *out, struct weir_source *source,
                     const struct weir_load_options *options);
/* The same, after a preface that was read. */
int weir__plain_behind(struct weir_plain *out, const struct weir_preface *preface,
                       struct weir_source *source, const struct weir_load_options *options);
/* Make room for @bytes and set the size to it; new bytes are zero. */
int weir__plain_resize(struct weir_plain *plain, uint64_t bytes, const char *name);
/* Check every byte, after its bytes have changed. */
int weir__plain_check(struct weir_plain *plain, const char *name,
                      const struct weir_load_options *options);
/* A source that reads it. No other thread writes to it, so it stays as it was checked. */
struct weir_source weir__plain_source(const struct weir_plain *plain, const char *name);
/* Make a filter of a checked plain form. The filter takes over the memory; on failure the caller
 * keeps it. @options: secret is used. */
int weir__plain_filter(struct weir_filter **out, struct weir_plain *plain, const char *name,
                       const struct weir_load_options *options);
void weir__plain_free(const struct weir_plain *plain);

/* ---- memory that receives the plain form of an image ---- */

struct weir_room {
	unsigned char *memory;  /* NULL: only check and count */
	uint64_t bytes;
	uint64_t end;           /* the end of the bytes so far */
	const char *name;       /* the image's */
	uint64_t commit;        /* of the whole, when complete */
	unsigned char *members; /* the rows of a compound's table */
};

/* Read everything after a preface, check each bit, and put the image's plain form into the room:
 * byte for byte what weir_save() writes without compression. */
int weir__room_put(struct weir_room *room, const struct weir_preface *p, struct weir_source *source,
                   const struct weir_load_options *options);

#endif
