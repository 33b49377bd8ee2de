/* SPDX-License-Identifier: MIT
 * The parts of a save that several files use. */
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
	uint64_t written;          /* bytes written so far, from the start of the bits on */
	uint64_t before, /* for progress: the bytes of bits of the members written earlier */
		total;   /* for progress: the bytes of bits of all members */
	struct weir_image_head head;
	uint64_t front_bytes;      /* bytes before the bits */
	uint64_t head_bytes;       /* bytes of head, table and some padding; in a file the rest of
	                            * the padding is a hole */
	unsigned char *front;      /* the first head_bytes of the image */
	uint64_t shard_bytes;      /* bytes of bits in a shard */
	uint64_t *copy;            /* a copy of a piece of a shard, or of the whole shard if the
	                            * image is compressed */
	uint64_t copy_bytes;
	struct weir_packer packer; /* for a compressed image */
};

/* Prepare to write the image of a filter.
 * @f: any filter but a compound.  @options: after weir__save_options(). */
int weir__writing_begin(struct weir_writing *w, const struct weir_filter *f, struct weir_sink *to,
                        const struct weir_save_options *options);
void weir__writing_end(struct weir_writing *w);

/* Write the image. A stream gets the image at its current position, and its bits must not change.
 * In a file the image starts at w->at, and the head is written last. During a write to a file the
 * bits may change, except for a kind with hold(), whose filter must be private to this thread. */
int weir__write_image(struct weir_writing *w);
/* Compute all checksums and the head. The bits must not change until the image is written. */
void weir__write_sums(struct weir_writing *w);

/* Return: the bytes of the image, after weir__write_image(). */
static inline uint64_t weir__written(const struct weir_writing *w)
{
	return w->front_bytes + w->written;
}

/* ---- functions for all savers ---- */

/* Copy the caller's options over the defaults, and check them. Return: 0 or -EINVAL. */
int weir__save_options(struct weir_save_options *out, const struct weir_save_options *options);

/* Writes an image or a delta. For a new file the function may be called twice. Each call must write
 * the whole image or delta. */
typedef int weir__write_fn(void *what, struct weir_sink *to,
                           const struct weir_save_options *options);
/* Writes a filter. @what: the filter, but not a compound whose members share one array. */
weir__write_fn weir__write_filter;
/* Replace the file at a path by the output of @write, or write to a descriptor or to memory.
 * @to: a location with one of the forms WEIR__TO_WRITE.  @options: checked.
 * Return: the bytes written, or a negative errno. */
int64_t weir__save_to(weir__write_fn *write, void *what, const struct weir_location *to,
                      const struct weir_save_options *options);

#endif
