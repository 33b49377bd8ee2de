/* SPDX-License-Identifier: MIT
 * Reads and writes for all of image/. */
#ifndef WEIR_SRC_IMAGE_IO_H
#define WEIR_SRC_IMAGE_IO_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/image.h>

/* The source of an image: a file, a stream or memory. */
struct weir_source {
	const char *name;            /* for sentences */
	int fd;                      /* -1: memory */
	const unsigned char *memory; /* the bytes not yet read */
	uint64_t at;                 /* bytes read so far */
	uint64_t length;             /* in all; UINT64_MAX: unknown */
	bool exact;                  /* the image must fill the length */
	uint64_t commit;             /* a file's commit record when it was opened */
};

/* Open a regular file that exists. @flags: O_RDONLY or O_RDWR. Return: 0 or a negative errno. */
int weir__source_open(struct weir_source *source, const char *path, int flags);
void weir__source_close(struct weir_source *source);
/* Settle the error of reading an opened file. If it is -EBADMSG and the file's commit record has
 * changed since it was opened, another process has marked the image live or sealed it. Then the
 * bytes read are old and new ones mixed, not damaged ones, and the error is -EBUSY.
 * Return: -EBUSY, or @err unchanged. */
int weir__source_settle(const struct weir_source *source, int err);

/* Read exactly @n bytes. Return: 0; -EBADMSG there are fewer; or the errno of read. */
int weir__source_read(struct weir_source *source, void *buffer, uint64_t n);
/* Read @n bytes, which must all be zero. */
int weir__source_zeros(struct weir_source *source, uint64_t n);
/* Check that no byte is left. */
int weir__source_end(struct weir_source *source);

/* Write all bytes: at offset @at, or if that is negative, at the file's position. */
int weir__write(int fd, const char *name, const void *bytes, uint64_t n, int64_t at);

/* Call the caller's progress function. Return: 0; -ECANCELED the function asked to stop. */
int weir__progress(weir_progress_fn *progress, void *arg, uint64_t done, uint64_t total);

#endif
