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

/* Identifies a file and its contents. A replaced file has another inode, and a file written in
 * place has another time or size. Inode, times and size do not suffice: inodes are reused, tar sets
 * mtime back, ctime is as coarse as the kernel's tick, and sealing changes no time on tmpfs. So the
 * commit record is compared too, which differs if the head or a shard differs. An identity of zeros
 * stands for no file. */
struct weir_file_identity {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified;
	struct timespec changed;
	uint64_t commit; /* the image's commit record; 0: the file is too short for one */
	uint64_t chain;  /* hash of the deltas found with the file; 0: none */
};

/* The source of an image: a file, a stream or memory. */
struct weir_source {
	const char *name;            /* for error messages */
	int fd;                      /* -1: memory, or a live mapping took the descriptor */
	const unsigned char *memory; /* for memory: the next byte to read */
	uint64_t at;                 /* bytes read so far */
	uint64_t length;             /* the bytes of the whole source; UINT64_MAX: unknown */
	bool exact;                  /* no bytes may follow the image */
	bool syscall_failed;         /* a system call failed, so the returned error says nothing
	                              * about the image's bytes */
	mode_t mode;                 /* the file's type and mode; 0: not opened by this library */
	/* the state of the file when the file was opened, but with the commit record that the file
	 * had when the head was read */
	struct weir_file_identity identity;
};

/* Open an existing file of any type. @flags: O_RDONLY or O_RDWR. Return: 0 or a negative errno. */
int weir__source_find(struct weir_source *source, const char *path, int flags);
/* Check that the file is regular and not empty. */
int weir__source_check(const struct weir_source *source);
/* Open a file with weir__source_find(), and check it with weir__source_check(). */
int weir__source_open(struct weir_source *source, const char *path, int flags);
void weir__source_close(struct weir_source *source);
/* A source that reads an image in memory, which must have exactly @bytes bytes. */
struct weir_source weir__source_of_memory(const char *name, const void *image, uint64_t bytes);

/* Record that a system call failed. Return: @err. */
int weir__syscall_failed(struct weir_source *source, int err);
/* Return: the current commit record of a file, or 0 if the file is too short for one. */
uint64_t weir__commit_now(int fd);
/* Take or release the lock on a commit record, without waiting. The rules of this lock are in
 * map.h. @type: F_RDLCK, F_WRLCK or F_UNLCK. Return: as fcntl(). */
int weir__commit_lock(int fd, short type);
/* Return: true if another open file description holds the lock on the commit record exclusively.
 * Only a description opened for writing can hold the lock exclusively. */
bool weir__commit_written(int fd);
/* Return: true if every later read of the same image will fail with this error too. False after a
 * failed system call, and for -ENOMEM and -EBUSY (a live image): a later read may succeed. False
 * for -EFBIG and -ECANCELED, which depend on the caller. */
bool weir__source_verdict(const struct weir_source *source, int err);
/* Turn -EBADMSG into -EBUSY if the commit record of a file that this library opened has changed
 * since its head was read. Then another process marked the image live, sealed it or overwrote it,
 * so the bytes read may mix old and new ones, and the file need not be damaged.
 * Return: -EBUSY, or @err unchanged. */
int weir__source_settle(const struct weir_source *source, int err);

/* Return: true if both identities are those of the same file with the same contents. */
bool weir__same_file(const struct weir_file_identity *a, const struct weir_file_identity *b);
/* Return: true if the file was written to since it was opened. Then the bytes read may mix two
 * versions. */
bool weir__source_changed(const struct weir_source *source);

/* Read exactly @n bytes. Return: 0; -EBADMSG if the source has fewer; or the errno of read. */
int weir__source_read(struct weir_source *source, void *buffer, uint64_t n);
/* Check that @n reserved bytes are all zero. No other thread may change them.
 * @at: the offset of the first byte in the image. */
int weir__zeros_check(const char *name, const unsigned char *bytes, uint64_t at, uint64_t n);
/* Read @n bytes and check that they are zero. */
int weir__source_zeros(struct weir_source *source, uint64_t n);
/* Check that the source has no more bytes. */
int weir__source_end(struct weir_source *source);

/* The destination of an image: a new file, a stream or memory. */
struct weir_sink {
	const char *name;    /* for error messages */
	int fd;              /* -1: memory */
	bool stream;         /* bytes can be written only in order */
	unsigned char *room; /* the memory; NULL: only count the bytes */
	uint64_t bytes;      /* the size of the memory */
	uint64_t at;         /* the write position */
	uint64_t end;        /* the end of the bytes written so far */
};

/* Write all bytes. @at: the offset to write to; negative: write at the position and advance it.
 * Return: 0; -ENOSPC if the disk is full or the memory is too small; or another errno of write. */
int weir__write(struct weir_sink *sink, const void *bytes, uint64_t n, int64_t at);
/* Set the write position. The sink must not be a stream. */
int weir__write_seek(struct weir_sink *sink, uint64_t at);
/* Write @n zeros, or leave a hole at the end of a regular file. The caller must write more bytes
 * after the hole. */
int weir__write_zeros(struct weir_sink *sink, uint64_t n);

#endif
