/* SPDX-License-Identifier: MIT
 * Reads keys from files: hands the lines (or NUL-ended records) of a list of files to many threads,
 * in chunks of whole lines. A line is everything up to the delimiter. So a carriage return before a
 * newline is part of the key, and an empty line is a key. */
#ifndef WEIR_TOOL_LINES_H
#define WEIR_TOOL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct lines_options {
	char **names;     /* "-", or no name at all: standard input */
	size_t n;
	char delimiter;   /* '\n', or '\0' */
	bool as_is;       /* never decompress */
	bool skip_empty;  /* an empty line is not a key */
	bool text;        /* skip the byte order mark of UTF-8 even if lines end with NUL */
	bool numbered;    /* the caller will use chunk_line() */
	/* NULL, or a callback that gets the first lines of each file, up to the header. None of
	 * them is a key. Return: 1 for the header, 0 for a line before it, -1 after a message: the
	 * file is then unreadable. Each chunk of the file gets the number in *@field. */
	int (*header)(const void *arg, const char *file, struct iovec line, uint32_t *field);
	const void *header_arg;
	uint64_t room;    /* bytes for the chunks of all threads together, and as many again to
	                     unpack; 0: most of what the control groups leave, for both */
	unsigned threads; /* number that take chunks; 0: one */
	/* continue with the next file after one that cannot be read; lines_failed() tells */
	bool go_on;
};

struct lines;

/* Return: the least .room. */
uint64_t lines_least(unsigned threads);
struct lines *lines_open(const struct lines_options *options);
void lines_close(struct lines *l);

/* A thread's share: whole lines. Start from { 0 }, end with chunk_free(). There is always room
 * for one byte after the last. */
struct chunk {
	char *data;
	size_t len, room;
	uint64_t number; /* 0, 1, 2, ... in the order of the input */
	const char *file;  /* for messages */
	size_t file_number; /* of lines_options.names, from 0 */
	bool first;        /* of its file */
	uint64_t before;   /* lines of the file before these, if numbered */
	size_t start;      /* the first key: behind the mark of UTF-8 and the header */
	uint32_t field;    /* the number from header(), else 0 */
};

/* Reads the next chunk into *@c. Any threads. Return: 1; 0 at the end; -1 after a message. */
int lines_next(struct lines *l, struct chunk *c);
void chunk_free(struct chunk *c);

/* Finds the next keys of a chunk. @at: 0 at first. Return: their number, at most @max; 0: no
 * more. */
size_t chunk_keys(const struct lines *l, const struct chunk *c, size_t *at, struct iovec *keys,
                  size_t max);

/* Return: the number of a chunk's line in its file, from 1. */
uint64_t chunk_line(const struct lines *l, const struct chunk *c, const char *line);

/* Return: the bytes of all files before decompression; 0 if one is not a regular file; -1 after a
 * message if stat() fails for one. */
int64_t lines_total_bytes(const struct lines_options *options);
/* Return: how many of these bytes are done. Any thread. */
uint64_t lines_done_bytes(const struct lines *l);
/* Records a line whose end is missing, so that the text behind it is not lines: a file counts as
 * unreadable. Any thread. Return: is it the first such line? */
bool lines_torn(struct lines *l);
/* After the end: was a file unreadable (with go_on)? */
bool lines_failed(const struct lines *l);
/* After the end: how many files began with the byte order mark of UTF-8? No key includes it. */
uint64_t lines_marked(const struct lines *l);
/* Reports that number, unless it is 0. */
void lines_say_marked(uint64_t files);

/* ---- how many keys each file had ---- */

struct tally;

/* Files without keys. */
struct keyless {
	uint64_t files;
	char *name;   /* of the first */
	uint64_t bad; /* its lines that were skipped */
};

struct tally *tally_new(const struct lines_options *from);
/* Counts @keys taken from @chunk, and @bad lines that were skipped. Any threads. */
void tally_add(struct tally *t, const struct chunk *chunk, uint64_t keys, uint64_t bad);
/* Return: after the pass, the files without keys. Frees the tally. */
struct keyless tally_end(struct tally *t);

#endif
