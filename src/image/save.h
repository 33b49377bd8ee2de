/* SPDX-License-Identifier: MIT
 * Saving: one image, that of a filter or of a compound's member, and what a save shares with
 * others. */
#ifndef WEIR_SRC_IMAGE_SAVE_H
#define WEIR_SRC_IMAGE_SAVE_H

#include <weir/image.h>
#include "image/preface.h"
#include "image/zstd.h"

/* ---- writing one image: that of a filter, or of a compound's member ---- */

struct weir_writing {
	const struct weir_filter *f;
	const struct weir_save_options *options;
	int fd;
	const char *name;
	uint64_t at;               /* of the image in the file */
	uint64_t written;          /* bytes of it, from the bits on */
	uint64_t before, total;    /* bytes of bits, for progress: saved already; of all */
	struct weir_image_head head;
	uint64_t front_bytes;      /* before the bits */
	uint64_t table_end;        /* bytes of head and table */
	unsigned char *front;      /* the head and the table */
	uint64_t shard_bytes;      /* of bits, in a shard */
	uint64_t *shard;           /* a copy of one */
	struct weir_packer packer; /* if compressed */
};

/* @f: no compound.  @options: checked. */
int weir__writing_begin(struct weir_writing *w, const struct weir_filter *f, int fd,
                        const char *name, const struct weir_save_options *options);
void weir__writing_end(struct weir_writing *w);

/* Write to a file, w->at its first byte, with the head last; the bits may change meanwhile, unless
 * its kind has hold(): such a filter nobody else may have. */
int weir__write_file(struct weir_writing *w);
/* The head and its checksums, of bits that do not change. */
void weir__write_sums(struct weir_writing *w);
/* Write from the file's position on, after weir__write_sums(). */
int weir__write_stream(struct weir_writing *w);
/* Write @n zeros from the file's position on. */
int weir__write_zeros(int fd, const char *name, uint64_t n);

/* Bytes of the image, once it is written. */
static inline uint64_t weir__written(const struct weir_writing *w)
{
	return w->front_bytes + w->written;
}

/* ---- the parts of saving that types beside the filters use ---- */

enum { WEIR__FD_NAME = 32 }; /* bytes for "file descriptor 1234567890" */

/* Copy the caller's options over the defaults, and check them. Return: 0 or -EINVAL. */
int weir__save_options(struct weir_save_options *out, const struct weir_save_options *options);
int weir__save_path_check(const char *path);
/* Is it open?  @name: receives one for sentences. */
int weir__save_fd_check(int fd, char name[WEIR__FD_NAME]);

/* Writes an image into a new file; perhaps twice, each time from offset 0 on. */
typedef int weir__write_fn(void *what, int fd, const char *path,
                           const struct weir_save_options *options);
/* Replace the file by what @write writes. @options: checked. */
int weir__save_path(weir__write_fn *write, void *what, const char *path,
                    const struct weir_save_options *options);

#endif
