/* SPDX-License-Identifier: MIT
 * The plain form of an image, whole, in memory of its own: byte for byte what weir_save() writes
 * without compression, whatever form the file has. */
#ifndef WEIR_SRC_IMAGE_PLAIN_H
#define WEIR_SRC_IMAGE_PLAIN_H

#include "image/preface.h"

struct weir_plain {
	struct weir_memory memory; /* its bits are the image, of which zeros follow up to room */
	uint64_t bytes, room;
	uint64_t commit, generation; /* as the head has them */
};

static inline unsigned char *weir__plain_bytes(const struct weir_plain *plain)
{
	return (unsigned char *)plain->memory.bits;
}

/* Read an image of a filter or a type beside them, and check every byte. @options: checked;
 * max_bytes and progress are taken of them. */
int weir__plain_read(struct weir_plain *out, struct weir_source *source,
                     const struct weir_load_options *options);
/* Likewise, behind a preface that was read. */
int weir__plain_behind(struct weir_plain *out, const struct weir_preface *preface,
                       struct weir_source *source, const struct weir_load_options *options);
/* Make room for @bytes, and let it have so many: what comes to it is zero. */
int weir__plain_resize(struct weir_plain *plain, uint64_t bytes, const char *name);
/* Its bytes have changed: check every one. */
int weir__plain_check(struct weir_plain *plain, const char *name,
                      const struct weir_load_options *options);
/* It as a source. It has been written by nobody else, so it stays as it was checked. */
struct weir_source weir__plain_source(const struct weir_plain *plain, const char *name);
/* Make a filter of it, which has the memory from now on. If that fails, it is the caller's still.
 * It was checked. @options: secret is taken of them. */
int weir__plain_filter(struct weir_filter **out, struct weir_plain *plain, const char *name,
                       const struct weir_load_options *options);
void weir__plain_free(const struct weir_plain *plain);

/* ---- memory that the plain form of an image is put into ---- */

struct weir_room {
	unsigned char *memory;  /* NULL: it is only checked and counted */
	uint64_t bytes;
	uint64_t end;           /* of what is there so far */
	const char *name;       /* of the image */
	uint64_t commit;        /* of the whole, when it is there */
	unsigned char *members; /* the rows of a compound's table */
};

/* Read all that is behind a preface, each bit checked, and put the image's plain form into the
 * room: byte for byte what weir_save() writes without compression. */
int weir__room_put(struct weir_room *room, const struct weir_preface *p, struct weir_source *source,
                   const struct weir_load_options *options);

#endif
