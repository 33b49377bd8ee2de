/* SPDX-License-Identifier: MIT
 * Keys from files: the lines (or NUL-ended records) of a list of files, handed to many threads
 * in chunks of whole lines. A line is everything up to the delimiter: a carriage return before a
 * newline is part of the key, an empty line is a key. */
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
	bool text;        /* skip the mark of UTF-8 also where lines end with NUL */
	bool numbered;    /* chunk_line() will be asked */
	/* NULL, or called with the first lines of each file until one is the header; none of them
	 * is a key. Return: 1 for the header, 0 for a line before it, -1 after a message. The file
	 * then counts as unreadable. Each chunk of the file has the number left in *@field. */
	int (*header)(const void *arg, const char *file, struct iovec line, uint32_t *field);
	const void *header_arg;
	uint64_t room;    /* bytes for the chunks that all threads have at a time, and as many to
	                     unpack in; 0: most of what the control groups leave, for both */
	unsigned threads; /* that take chunks; 0: one */
	/* continue with the next file after one that cannot be read; lines_failed() tells */
	bool go_on;
};

struct lines;

/* The least .room. */
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
	uint32_t field;    /* what header() said of the file, else 0 */
};

/* The next chunk into *@c. Any threads. Return: 1; 0 at the end; -1 after a message. */
int lines_next(struct lines *l, struct chunk *c);
void chunk_free(struct chunk *c);

/* Where the next keys of a chunk are. @at: 0 at first. Return: how many, at most @max; 0: no
 * more. */
size_t chunk_keys(const struct lines *l, const struct chunk *c, size_t *at, struct iovec *keys,
                  size_t max);

/* The number of a line of a chunk in its file, from 1. */
uint64_t chunk_line(const struct lines *l, const struct chunk *c, const char *line);

/* Bytes of all files before decompression, 0 if one is not a regular file; -1 after a message
 * if one cannot be read. */
int64_t lines_total_bytes(const struct lines_options *options);
/* How many of those are done; any thread. */
uint64_t lines_done_bytes(const struct lines *l);
/* A line whose end is missing, so that those behind it are none: the file counts as one that cannot
 * be read. Any thread. Return: whether it is the first such line. */
bool lines_torn(struct lines *l);
/* After the end: whether a file could not be read (with go_on). */
bool lines_failed(const struct lines *l);
/* Likewise: how many files began with the mark of UTF-8, which is no part of a key. */
uint64_t lines_marked(const struct lines *l);
/* Report that many, if there are any. */
void lines_say_marked(uint64_t files);

/* ---- how many keys each file had ---- */

struct tally;

/* Files without keys. */
struct keyless {
	uint64_t files;
	char *name;   /* of the first */
	uint64_t bad; /* its lines that were passed over */
};

struct tally *tally_new(const struct lines_options *from);
/* Count @keys that were taken from @chunk, and @bad lines that were passed over. Any threads. */
void tally_add(struct tally *t, const struct chunk *chunk, uint64_t keys, uint64_t bad);
/* After the pass: which files had no keys. Frees the tally. */
struct keyless tally_end(struct tally *t);

#endif
