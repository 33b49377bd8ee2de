/* SPDX-License-Identifier: MIT
 * Saving: one image, of a filter or of a compound's member, and the parts of a save that others
 * use. */
#ifndef WEIR_SRC_IMAGE_SAVE_H
#define WEIR_SRC_IMAGE_SAVE_H

#include <weir/image.h>
#include "image/preface.h"
#include "image/zstd.h"

/* ---- writing one image, of a filter or of a compound's member ---- */

struct weir_writing {
	const struct weir_filter *f;
	const struct weir_save_options *options;
	struct weir_sink *to;
	uint64_t at;               /* the offset of the image in the sink */
	uint64_t written;          /* bytes of the image from the bits on */
	uint64_t before, total;    /* for progress, bytes of bits: already saved; in all */
	struct weir_image_head head;
	uint64_t front_bytes;      /* bytes before the bits */
	uint64_t head_bytes;       /* of these: head, table and some padding; in a file the rest of
	                            * the padding is a hole */
	unsigned char *front;      /* the first head_bytes of the image */
	uint64_t shard_bytes;      /* of bits, in a shard */
	uint64_t *copy;            /* of a piece of a shard, or of a whole shard if compressed */
	uint64_t copy_bytes;
	struct weir_packer packer; /* if compressed */
};

/* @f: not a compound.  @options: checked. */
int weir__writing_begin(struct weir_writing *w, const struct weir_filter *f, struct weir_sink *to,
                        const struct weir_save_options *options);
void weir__writing_end(struct weir_writing *w);

/* Write the image. To a stream: from its position on, and the bits must not change. Otherwise:
 * w->at is its first byte, the head comes last, and the bits may change, except for a kind with
 * hold(): then no other thread may have the filter. */
int weir__write_image(struct weir_writing *w);
/* Compute the head and its checksums, for bits that do not change. */
void weir__write_sums(struct weir_writing *w);

/* The bytes of the image, once it is written. */
static inline uint64_t weir__written(const struct weir_writing *w)
{
	return w->front_bytes + w->written;
}

/* ---- the parts of saving that others use ---- */

/* Copy the caller's options over the defaults, and check them. Return: 0 or -EINVAL. */
int weir__save_options(struct weir_save_options *out, const struct weir_save_options *options);

/* Writes an image or a delta; into a new file perhaps twice, each time from offset 0 on. */
typedef int weir__write_fn(void *what, struct weir_sink *to,
                           const struct weir_save_options *options);
/* The weir__write_fn for a filter, except a compound in one array. */
weir__write_fn weir__write_filter;
/* Replace the file at a path by the output of @write, or write to a descriptor or to room. @to: a
 * location of these forms. @options: checked. Return: bytes, or a negative errno. */
int64_t weir__save_to(weir__write_fn *write, void *what, const struct weir_location *to,
                      const struct weir_save_options *options);

#endif
