/* SPDX-License-Identifier: MIT
 * Reads and writes for all of image/. */
#ifndef WEIR_SRC_IMAGE_IO_H
#define WEIR_SRC_IMAGE_IO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <weir/image.h>

struct weir_kind;

/* The identity of a file. A replaced file has another inode; a file written in place has another
 * time or size. But inodes are reused, tar sets mtime back, ctime is as coarse as the kernel's
 * tick, and sealing changes no time on tmpfs. The commit record differs if the head or a shard
 * does. All zero: no file. */
struct weir_file_identity {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified;
	struct timespec changed;
	uint64_t commit; /* 0: the file is too short for one */
	uint64_t chain;  /* of the deltas beside it that were considered; 0: none */
};

/* The source of an image: a file, a stream or memory. */
struct weir_source {
	const char *name;            /* for sentences */
	int fd;                      /* -1: memory, or a live mapping has taken it over */
	const unsigned char *memory; /* the bytes not yet read */
	uint64_t at;                 /* bytes read so far */
	uint64_t length;             /* in all; UINT64_MAX: unknown */
	bool exact;                  /* the image must fill the length */
	bool outside;                /* a system call failed, so the returned error says nothing
	                              * about the image's bytes */
	mode_t mode;                 /* the file's type and mode from stat(); 0: not opened here */
	/* the file's, as of the open; its commit record as of the read of its head */
	struct weir_file_identity identity;
};

/* Open an existing file of any type. Everything else about it is read through that descriptor.
 * @flags: O_RDONLY or O_RDWR. Return: 0 or a negative errno of a system call. */
int weir__source_find(struct weir_source *source, const char *path, int flags);
/* Check that the file is regular and not empty. */
int weir__source_check(const struct weir_source *source);
/* weir__source_find(), then weir__source_check(). */
int weir__source_open(struct weir_source *source, const char *path, int flags);
void weir__source_close(struct weir_source *source);
/* A source in memory; the image must fill it. */
struct weir_source weir__source_of_memory(const char *name, const void *image, uint64_t bytes);

/* Record that a system call failed. Return: @err. */
int weir__source_outside(struct weir_source *source, int err);
/* The current commit record of a file, or 0 if the file is too short for one. */
uint64_t weir__commit_now(int fd);
/* The lock on a commit record (S1 to S5 of map.h): take it at once or not at all. @type: F_RDLCK,
 * F_WRLCK or F_UNLCK. Return: as fcntl(). */
int weir__commit_lock(int fd, short type);
/* Does another opening of the file hold that lock exclusively? Only one for writing can. */
bool weir__commit_written(int fd);
/* Will the same image fail with this error again? Not certain for the error of a system call:
 * descriptors and permissions come back, disks are repaired. Nor for -ENOMEM; nor for -EFBIG and
 * -ECANCELED, which depend on the caller; nor for -EBUSY, since a live image will be sealed one
 * day. */
bool weir__source_verdict(const struct weir_source *source, int err);
/* Settle the error of reading a source. For a file opened here, -EBADMSG becomes -EBUSY if its
 * commit record has changed since its head was read. Another process then marked the image live or
 * sealed it, so the bytes read mix old and new ones and are not damaged.
 * Return: -EBUSY, or @err unchanged. */
int weir__source_settle(const struct weir_source *source, int err);

/* Are the two the same file in the same state? */
bool weir__same_file(const struct weir_file_identity *a, const struct weir_file_identity *b);
/* Was the opened file written to since? Then the bytes read may mix two versions. */
bool weir__source_changed(const struct weir_source *source);

/* Read exactly @n bytes. Return: 0; -EBADMSG there are fewer; or the errno of read. */
int weir__source_read(struct weir_source *source, void *buffer, uint64_t n);
/* Check that @n reserved bytes are all zero. No other thread may change them.
 * @at: the offset of the first in the image. */
int weir__zeros_check(const char *name, const unsigned char *bytes, uint64_t at, uint64_t n);
/* Read @n bytes and check that they are zero. */
int weir__source_zeros(struct weir_source *source, uint64_t n);
/* Check that no bytes follow. */
int weir__source_end(struct weir_source *source);

/* The destination of an image: a new file, a stream or memory. */
struct weir_sink {
	const char *name;    /* for sentences */
	int fd;              /* -1: memory */
	bool stream;         /* takes bytes only in order */
	unsigned char *room; /* NULL: count the bytes only */
	uint64_t bytes;      /* the size of room */
	uint64_t at;         /* the position */
	uint64_t end;        /* the end of the bytes written so far */
};

/* Write all bytes: at offset @at, or if it is negative, at the position, which then moves on.
 * Return: 0; -ENOSPC also if the room is too small; or the errno of write. */
int weir__write(struct weir_sink *sink, const void *bytes, uint64_t n, int64_t at);
/* Set the position; not for a stream. */
int weir__write_seek(struct weir_sink *sink, uint64_t at);
/* Write @n zeros to a stream, or leave a hole at the end of a regular file. Other bytes must
 * follow. */
int weir__write_zeros(struct weir_sink *sink, uint64_t n);

#endif
