/* SPDX-License-Identifier: MIT
 * Reads keys from a list of files. Threads take chunks of whole lines (or NUL-ended records). A
 * line is everything up to the delimiter. So a carriage return before a newline is part of the key,
 * and an empty line is a key. */
#ifndef WEIR_TOOL_LINES_H
#define WEIR_TOOL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct lines_options {
	char **names;     /* files; without names, and for the name "-", standard input */
	size_t n;
	char delimiter;   /* '\n', or '\0' */
	bool as_is;       /* never decompress */
	bool skip_empty;  /* an empty line is not a key */
	bool text;        /* skip the byte order mark of UTF-8 even if lines end with NUL */
	bool numbered;    /* the caller will use chunk_line() */
	/* NULL, or a callback for the first lines of each file, up to the header. No such line is a
	 * key. @field: receives the number of the key's field in this file. Return: 1 for the
	 * header, 0 for a line before the header, or -1 after a message, which makes the file
	 * unreadable. */
	int (*header)(const void *arg, const char *file, struct iovec line, uint32_t *field);
	const void *header_arg;
	/* Limit in bytes on the chunks of all threads. Unpacking may take the same amount again. 0:
	 * chunks and unpacking together may take most of the memory that the control groups
	 * leave. */
	uint64_t room;
	unsigned threads; /* number of threads that take chunks; 0: one */
	/* After an unreadable file, continue with the next file; lines_failed() reports the
	 * fault. */
	bool go_on;
};

struct lines;

/* Return: the smallest lines_options.room for @threads threads. */
uint64_t lines_least(unsigned threads);
struct lines *lines_open(const struct lines_options *options);
void lines_close(struct lines *l);

/* Whole lines for one thread. Initialise with { 0 }, and end with chunk_free(). One byte after the
 * last line may be overwritten. */
struct chunk {
	char *data;
	size_t len, room;
	uint64_t number; /* 0, 1, 2, ... in the order of the input */
	const char *file;  /* for messages */
	size_t file_number; /* index in lines_options.names */
	bool first;        /* this is the first chunk of its file */
	uint64_t before;   /* number of earlier lines in the file, if lines_options.numbered */
	size_t start;      /* offset of the first key, after a byte order mark and the header */
	uint32_t field;    /* number of the key's field, from lines_options.header; else 0 */
};

/* Reads the next chunk into *@c. Return: 1; 0 at the end; -1 after a message. Threads: any. */
int lines_next(struct lines *l, struct chunk *c);
void chunk_free(struct chunk *c);

/* Finds the next keys of a chunk. @at: start with 0. Return: the number of keys, at most @max, or 0
 * at the end of the chunk. */
size_t chunk_keys(const struct lines *l, const struct chunk *c, size_t *at, struct iovec *keys,
                  size_t max);

/* Return: the number of a line of the chunk within its file, from 1. */
uint64_t chunk_line(const struct lines *l, const struct chunk *c, const char *line);

/* Return: the size of all files, before decompression; 0 if a file is not regular; -1 after a
 * message if stat() fails. */
int64_t lines_total_bytes(const struct lines_options *options);
/* Return: the bytes of the files that were read so far, before decompression. Threads: any. */
uint64_t lines_done_bytes(const struct lines *l);
/* Records that a line ends within a quoted field. The file then counts as unreadable, since the
 * text after this line may belong to the field. Return: true for the first such line. Threads:
 * any. */
bool lines_torn(struct lines *l);
/* Return: true if a file was unreadable. Call after the last chunk, with lines_options.go_on. */
bool lines_failed(const struct lines *l);
/* Return: the number of files that began with the byte order mark of UTF-8, which is not part of a
 * key. Call after the last chunk. */
uint64_t lines_marked(const struct lines *l);
/* Reports that @files byte order marks were skipped, unless @files is 0. */
void lines_say_marked(uint64_t files);

/* ---- the number of keys in each file ---- */

struct tally;

/* The files without keys. */
struct keyless {
	uint64_t files;
	char *name;   /* name of the first file without keys */
	uint64_t bad; /* number of skipped lines in that file */
};

struct tally *tally_new(const struct lines_options *from);
/* Adds @keys keys and @bad skipped lines to the file of @chunk. Threads: any. */
void tally_add(struct tally *t, const struct chunk *chunk, uint64_t keys, uint64_t bad);
/* Frees the tally after a pass. Return: the files without keys. */
struct keyless tally_end(struct tally *t);

#endif
