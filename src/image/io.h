/* SPDX-License-Identifier: MIT
 * What the image files share: bytes in and out, the checked head with its table. */
#ifndef WEIR_SRC_IMAGE_IO_H
#define WEIR_SRC_IMAGE_IO_H

#include <weir/image.h>
#include "image/head.h"
#include "kind.h"
#include "options.h"

/* Where an image comes from. */
struct weir_source {
	const char *name;            /* for sentences */
	int fd;                      /* -1: memory */
	const unsigned char *memory; /* what is left of it */
	uint64_t at;                 /* bytes taken so far */
	uint64_t length;             /* bytes that there are; UINT64_MAX: unknown */
	bool exact;                  /* the image must fill them */
	uint64_t commit;             /* a file's commit record when it was opened */
};

/* Open a file that exists and is a regular one. @flags: O_RDONLY or O_RDWR. The sentence names
 * the path. */
int weir__source_open(struct weir_source *source, const char *path, int flags);
void weir__source_close(struct weir_source *source);
/* What reading an opened file came to: @err, but -EBUSY for an -EBADMSG if its commit record has
 * changed since. Then another process has marked it live, or sealed it, and what was read is of
 * two times rather than damaged. */
int weir__source_settle(const struct weir_source *source, int err);

/* Exactly @n bytes. -EBADMSG: there are fewer. */
int weir__source_read(struct weir_source *source, void *buffer, uint64_t n);
/* @n bytes that are all zero. */
int weir__source_zeros(struct weir_source *source, uint64_t n);
/* Nothing is left. */
int weir__source_end(struct weir_source *source);

/* All of it, at a position or where the file is (@at < 0). */
int weir__write(int fd, const char *name, const void *bytes, uint64_t n, int64_t at);

/* A checked image up to its bits. */
struct weir_preface {
	struct weir_image_head head;
	const struct weir_kind *kind;
	unsigned char *table; /* the shards' checksums, malloc'ed; as in the image */
	uint64_t shard_bytes;
};

/* Read and check everything before the bits. @max_bytes: of bits, 0 for any. -EBUSY a live image
 * unless @live_too. */
int weir__preface_read(struct weir_preface *out, struct weir_source *source, uint64_t max_bytes,
                       bool live_too);
void weir__preface_free(struct weir_preface *preface);
/* Compare the checksum of a shard's bits with the table. */
int weir__preface_check(const struct weir_preface *preface, uint32_t shard, const void *bits,
                        const char *name);

/* The layout and the head of a filter, each from the other. */
void weir__head_layout(const struct weir_image_head *head, struct weir_plan *out);
void weir__head_of(const struct weir_filter *f, uint32_t compression, uint64_t generation,
                   struct weir_image_head *out);
/* The head's bytes with their checksums, for a table that is ready. */
void weir__head_commit(struct weir_image_head *head, const unsigned char *table,
                       unsigned char *bytes);

/* A shard's bits as the image holds them, while others may insert. */
void weir__shard_copy(const struct weir_filter *f, uint32_t shard, uint64_t *out);

/* Tell the caller; -ECANCELED if he wants no more. */
int weir__progress(weir_progress_fn *progress, void *arg, uint64_t done, uint64_t total);

#endif
