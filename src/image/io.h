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

/* Which file it is. A file that is replaced has another inode, one that is written in place another
 * time or size. But an inode is used again, tar sets mtime back, ctime is as coarse as the kernel's
 * tick, and sealing moves no time on tmpfs; the commit record differs wherever the head or a shard
 * does. All zero: none. */
struct weir_file_identity {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified;
	struct timespec changed;
	uint64_t commit; /* 0: the file is too short for one */
	uint64_t chain;  /* of the deltas beside it that were looked at; 0: none */
};

/* The source of an image: a file, a stream or memory. */
struct weir_source {
	const char *name;            /* for sentences */
	int fd;                      /* -1: memory, or a live mapping took it over */
	const unsigned char *memory; /* the bytes not yet read */
	uint64_t at;                 /* bytes read so far */
	uint64_t length;             /* in all; UINT64_MAX: unknown */
	bool exact;                  /* the image must fill the length */
	bool outside;                /* a system call failed: the error that is returned is no
	                                judgement on the image's bytes */
	mode_t mode;                 /* a file's type, as stat() has it; 0: not opened here */
	/* a file's when it was opened; its commit record when its head was read */
	struct weir_file_identity identity;
};

/* Open a file that exists, whatever it is. Everything else that is known of it is read from that
 * descriptor. @flags: O_RDONLY or O_RDWR. Return: 0 or a negative errno of a system call. */
int weir__source_find(struct weir_source *source, const char *path, int flags);
/* See that what was found is a regular file, and not empty. */
int weir__source_check(const struct weir_source *source);
/* Both. */
int weir__source_open(struct weir_source *source, const char *path, int flags);
void weir__source_close(struct weir_source *source);
/* Memory, which the image must fill. */
struct weir_source weir__source_of_memory(const char *name, const void *image, uint64_t bytes);

/* Mark the error of a system call. Return: @err. */
int weir__source_outside(struct weir_source *source, int err);
/* The commit record that a file has now, or 0 if it is too short for one. */
uint64_t weir__commit_now(int fd);
/* The lock on a commit record (S1 to S5 of map.h), taken at once or not at all. @type: F_RDLCK,
 * F_WRLCK or F_UNLCK. Return: as fcntl(). */
int weir__commit_lock(int fd, short type);
/* Has another opening of the file that lock exclusively, as only one for writing can? */
bool weir__commit_written(int fd);
/* Will the image fail with this error again as long as it is the same? After that of a system call
 * it may not: descriptors and permissions come back, disks are mended. Nor after -ENOMEM, nor after
 * -EFBIG and -ECANCELED, which the caller decides, nor after -EBUSY: a live image is sealed one
 * day. */
bool weir__source_verdict(const struct weir_source *source, int err);
/* Settle the error of reading a source. Of a file that was opened here, -EBADMSG becomes -EBUSY if
 * its commit record has changed since its head was read: another process has marked the image live
 * or sealed it, so the bytes read are old and new ones mixed, not damaged ones.
 * Return: -EBUSY, or @err unchanged. */
int weir__source_settle(const struct weir_source *source, int err);

/* Do the two name one file, as it was at one moment? */
bool weir__same_file(const struct weir_file_identity *a, const struct weir_file_identity *b);
/* Has an opened file been written to since? What was read of it may then be of two files. */
bool weir__source_changed(const struct weir_source *source);

/* Read exactly @n bytes. Return: 0; -EBADMSG there are fewer; or the errno of read. */
int weir__source_read(struct weir_source *source, void *buffer, uint64_t n);
/* Check that @n reserved bytes are all zero. Nothing changes them meanwhile.
 * @at: the image's offset of the first. */
int weir__zeros_check(const char *name, const unsigned char *bytes, uint64_t at, uint64_t n);
/* Read @n bytes, which must all be zero. */
int weir__source_zeros(struct weir_source *source, uint64_t n);
/* Check that no byte is left. */
int weir__source_end(struct weir_source *source);

/* The destination of an image: a new file, a stream or memory. */
struct weir_sink {
	const char *name;    /* for sentences */
	int fd;              /* -1: memory */
	bool stream;         /* it takes bytes in their order only */
	unsigned char *room; /* NULL: the bytes are only counted */
	uint64_t bytes;      /* of room */
	uint64_t at;         /* the position */
	uint64_t end;        /* of what was written so far */
};

/* Write all bytes: at offset @at, or if that is negative, at the position, which moves on.
 * Return: 0; -ENOSPC also if the room is too small; or the errno of write. */
int weir__write(struct weir_sink *sink, const void *bytes, uint64_t n, int64_t at);
/* Set the position. Not of a stream. */
int weir__write_seek(struct weir_sink *sink, uint64_t at);
/* Write @n zeros to a stream, or leave a hole at the end of a regular file: bytes must follow. */
int weir__write_zeros(struct weir_sink *sink, uint64_t n);

#endif
