/* SPDX-License-Identifier: MIT
 * Reads a file's bytes, decompressed if they are compressed. Each compressed form is a struct
 * form. */
#ifndef WEIR_TOOL_DECODE_H
#define WEIR_TOOL_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct decoder;

/* Opens a file. @name: a path, or "-" for standard input. @as_is: do not decompress, and accept any
 * bytes. @most: limit on the memory for unpacking in bytes, at most 256 MiB. Return: NULL after a
 * message. */
struct decoder *decoder_open(const char *name, bool as_is, uint64_t most);

/* Reads up to @room bytes, and returns as soon as at least one byte is available. Return: the
 * number of bytes, 0 at the end, or -1 after a message. */
ssize_t decoder_read(struct decoder *d, char *to, size_t room);

/* Return: the bytes read from the file so far, before decompression. */
uint64_t decoder_taken(const struct decoder *d);
void decoder_close(struct decoder *d);

/* Checks that the first @n decompressed bytes of a file look like keys that end with @delimiter.
 * Return: false after a message, if the bytes are an archive or another known format. If newlines
 * should end the keys, also refuses bytes with many NUL bytes, and bytes with carriage returns but
 * without newlines. */
bool looks_like_keys(const char *name, const char *bytes, size_t n, char delimiter);

/* ---- the compressed forms, each recognised by its first bytes ---- */

enum { UNPACK_MAGIC = 10 }; /* bytes of the longest magic */

struct decoder;

struct form {
	const char *name, *ending; /* @ending is NULL if file names do not show the form */
	size_t bytes;
	unsigned char magic[UNPACK_MAGIC], mask[UNPACK_MAGIC];
	/* Begins to unpack. Return: false if memory is short. @begin is NULL if weir was built
	 * without @library. */
	bool (*begin)(struct decoder *d);
	ssize_t (*read)(struct decoder *d, char *to, size_t room);
	void (*end)(struct decoder *d);
	const char *library;
};

struct decoder {
	const char *name; /* for messages */
	int fd;
	bool at_end;      /* the file has no more bytes */
	bool in_stream;   /* a compressed stream has begun and not ended */
	uint64_t taken, most;
	const struct form *form; /* NULL: not compressed */
	void *state;             /* private to the form */
	size_t start, end;       /* the unread bytes of @input */
	unsigned char input[(size_t)256 << 10];
};

/* Return: true if the first @have bytes match the form's magic, or the start of the magic if @have
 * is smaller. */
bool form_begins(const struct form *form, const unsigned char *bytes, size_t have);

/* Reads bytes from the file. Return: their number, 0 at the end of the file, or -1 after a
 * message. */
ssize_t unpack_some(struct decoder *d, void *to, size_t room);
/* Reads more of the file if the input buffer is empty and the file has not ended. Return: false
 * after a message. */
bool unpack_refill(struct decoder *d);
/* Reports that the file ends within a stream. Return: -1. */
ssize_t unpack_cut_short(const struct decoder *d);
/* Reports damaged data. Return: -1. */
ssize_t unpack_damaged(const struct decoder *d, const char *why);
/* Reports that memory to unpack the data is short. Return: -1. */
ssize_t unpack_no_memory(const struct decoder *d);
/* Reports that the data needs more than @most bytes of memory to unpack. Return: -1. */
ssize_t unpack_too_large(const struct decoder *d, uint64_t most);

extern const struct form form_gzip, form_zstd, form_zstd_skippable, form_xz, form_bzip2,
	form_bzip2_empty;

#endif
