/* SPDX-License-Identifier: MIT
 * Bytes in and out, as all of image/ reads and writes them. */
#ifndef WEIR_SRC_IMAGE_IO_H
#define WEIR_SRC_IMAGE_IO_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/image.h>

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

/* Report to the caller's progress function; -ECANCELED if it wants no more. */
int weir__progress(weir_progress_fn *progress, void *arg, uint64_t done, uint64_t total);

#endif
