/* SPDX-License-Identifier: MIT
 * Reads a file's bytes, decompressed if they are compressed, and knows the compressed forms. */
#ifndef WEIR_TOOL_DECODE_H
#define WEIR_TOOL_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct decoder;

/*
 * @name: a path, or "-" for standard input.
 * @as_is: take the bytes as they are, whatever they look like.
 * @most: bytes of memory to unpack, capped at 256 MiB.
 * Return: NULL after a message.
 */
struct decoder *decoder_open(const char *name, bool as_is, uint64_t most);

/* Reads up to @room bytes, as soon as there are any. Return: their number; 0 at the end; -1 after a
 * message. */
ssize_t decoder_read(struct decoder *d, char *to, size_t room);

/* Return: the bytes taken from the file so far, before decompression. */
uint64_t decoder_taken(const struct decoder *d);
void decoder_close(struct decoder *d);

/* Do the first @n decompressed bytes of a file look like keys that end with @delimiter? Return:
 * false after a message, if they are an archive or another known format, or if newlines should end
 * the keys and there are NUL bytes, or carriage returns without a newline. */
bool looks_like_keys(const char *name, const char *bytes, size_t n, char delimiter);

/* ---- the forms, each with the first bytes that show it ---- */

enum { UNPACK_MAGIC = 10 }; /* the longest */

struct decoder;

struct form {
	const char *name, *ending; /* @ending: NULL: file names do not show the form */
	size_t bytes;
	unsigned char magic[UNPACK_MAGIC], mask[UNPACK_MAGIC];
	/* Return: false without memory. NULL: this weir was built without @library. */
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
	const struct form *form; /* NULL: plain */
	void *state;             /* the form's */
	size_t start, end;       /* the part of input that is not used yet */
	unsigned char input[(size_t)256 << 10];
};

/* Are the first min(have, magic) bytes the form's? */
bool form_begins(const struct form *form, const unsigned char *bytes, size_t have);

/* Reads bytes from the file. Return: their number, 0 at its end, -1 after a message. */
ssize_t unpack_some(struct decoder *d, void *to, size_t room);
/* Reads input if none is left, unless the file is at its end. Return: false after a message. */
bool unpack_refill(struct decoder *d);
/* Reports that the file ends within a stream. Return: -1. */
ssize_t unpack_cut_short(const struct decoder *d);
/* Reports damaged data. Return: -1. */
ssize_t unpack_damaged(const struct decoder *d, const char *why);
/* Reports that the data needs more than @most bytes of memory to unpack. Return: -1. */
ssize_t unpack_too_large(const struct decoder *d, uint64_t most);

extern const struct form form_gzip, form_zstd, form_zstd_skippable, form_xz, form_bzip2,
	form_bzip2_empty;

#endif
