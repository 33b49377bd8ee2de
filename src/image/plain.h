/* SPDX-License-Identifier: MIT
 * The plain form of an image: the bytes that weir_save() writes without compression. It is kept in
 * memory, whatever form the file has. */
#ifndef WEIR_SRC_IMAGE_PLAIN_H
#define WEIR_SRC_IMAGE_PLAIN_H

#include "image/preface.h"

struct weir_plain {
	struct weir_memory memory; /* memory.bits points to the image, and zeros fill the rest */
	uint64_t bytes, /* the size of the image */
		room;   /* the size of the memory */
	uint64_t commit, generation; /* copies of these two fields of the image's head */
};

static inline unsigned char *weir__plain_bytes(const struct weir_plain *plain)
{
	return (unsigned char *)plain->memory.bits;
}

/* Read an image into its plain form, and check every byte. @options: after weir__load_options();
 * max_bytes and progress are used. */
int weir__plain_read(struct weir_plain *out, struct weir_source *source,
                     const struct weir_load_options *options);
/* Read the rest of an image, after its preface, into its plain form, and check every byte. */
int weir__plain_read_rest(struct weir_plain *out, const struct weir_preface *preface,
                          struct weir_source *source, const struct weir_load_options *options);
/* Set the size of the image to @bytes, and reallocate if necessary. New bytes are zero. */
int weir__plain_resize(struct weir_plain *plain, uint64_t bytes, const char *name);
/* Check every byte of an image that was changed in memory. Updates commit and generation. */
int weir__plain_check(struct weir_plain *plain, const char *name,
                      const struct weir_load_options *options);
/* A source that reads the plain form. No other thread may write to that memory. */
struct weir_source weir__plain_source(const struct weir_plain *plain, const char *name);
/* Make a filter of a checked plain form. The filter takes over the memory or copies from it. After
 * a failure the caller must call weir__plain_free(); after a success that call is a no-op.
 * @options: after weir__load_options(). */
int weir__plain_filter(struct weir_filter **out, struct weir_plain *plain, const char *name,
                       const struct weir_load_options *options);
void weir__plain_free(const struct weir_plain *plain);

/* ---- copying the plain form of an image to memory ---- */

struct weir_room {
	unsigned char *memory;  /* NULL: only check and count */
	uint64_t bytes;
	uint64_t end;           /* the end of the bytes written so far */
	const char *name;       /* the image's name, for error messages */
	uint64_t commit;        /* the commit record of the plain form, set at the end */
	unsigned char *members; /* the rows of a compound's table */
};

/* Read and check everything after a preface, and write the image's plain form to @room. */
int weir__room_put(struct weir_room *room, const struct weir_preface *p, struct weir_source *source,
                   const struct weir_load_options *options);

#endif
