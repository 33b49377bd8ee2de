/* SPDX-License-Identifier: MIT
 * Reads keys from files. Threads take turns to read under a mutex, and split and hash lines in
 * parallel. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "decode.h"
#include "file.h"
#include "host/memory_limit.h"
#include "lines.h"
#include "output/say.h"
#include "output/units.h"

#define CHUNK_BYTES ((size_t)1 << 20)
#define CHUNK_SHORT ((size_t)128 << 10) /* the smallest chunk, if memory is short */
/* The longest line in bytes, without its delimiter. The limit is low because a small compressed
 * file can contain many long lines, and each thread may have one in memory. */
#define LINE_MOST ((size_t)16 << 20)

static char standard_input[] = "-";
static char *only_standard_input[] = { standard_input };

struct lines {
	struct lines_options options;
	pthread_mutex_t read_lock;
	uint64_t unpack_memory; /* limit on the memory for unpacking, in bytes */
	struct decoder *file; /* the open file, or NULL */
	size_t next;          /* index in options.names of the next file */
	bool failed, torn, stopped;
	bool awaits_header;
	uint32_t field;       /* number of the key's field in the open file */
	/* @chunks: number of chunks of all files. @file_chunks, @file_lines, @file_bytes: numbers
	 * of chunks, lines and decompressed bytes of the open file so far. */
	uint64_t chunks, file_chunks, file_lines, file_bytes;
	uint64_t closed_bytes;       /* bytes read from the closed files, before decompression */
	atomic_uint_fast64_t bytes;  /* bytes read from all files, before decompression */
	char *rest;                  /* the start of a line whose end was not read yet */
	size_t rest_len, rest_room;
	uint64_t allocated;               /* size of all chunks and of @rest, in bytes */
	uint64_t marked;             /* number of files that begin with UTF-8's byte order mark */
};

uint64_t lines_least(unsigned threads)
{
	return (threads + 1) * (uint64_t)CHUNK_SHORT;
}

struct lines *lines_open(const struct lines_options *options)
{
	struct lines *l = xmalloc(sizeof *l);
	*l = (struct lines){ .options = *options, .unpack_memory = options->room };
	if (!options->room) { /* Leave memory for the work on the lines. */
		const uint64_t left = memory_left();
		l->options.room = left / 4 + 1;
		l->unpack_memory = left / 8 * 5;
	}
	if (!l->options.n) {
		l->options.names = only_standard_input;
		l->options.n = 1;
	}
	pthread_mutex_init(&l->read_lock, NULL);
	return l;
}

void lines_close(struct lines *l)
{
	if (l->file)
		decoder_close(l->file);
	pthread_mutex_destroy(&l->read_lock);
	free(l->rest);
	free(l);
}

/* Return: the size of a chunk. Each thread has one chunk, and l->rest may be as large as a
 * chunk. */
static size_t chunk_bytes(const struct lines *l)
{
	const uint64_t share = l->options.room / (l->options.threads + 1);
	return share > CHUNK_BYTES ? CHUNK_BYTES : share < CHUNK_SHORT ? CHUNK_SHORT : share;
}

static void chunk_room(struct lines *l, struct chunk *c, size_t bytes)
{
	if (c->room >= bytes)
		return;
	c->data = xrealloc(c->data, bytes);
	l->allocated += bytes - c->room;
	c->room = bytes;
}

void chunk_free(struct chunk *c)
{
	free(c->data);
	*c = (struct chunk){ 0 };
}

static void keep_rest(struct lines *l, const char *from, size_t len)
{
	if (l->rest_room < len) {
		l->rest = xrealloc(l->rest, len);
		l->allocated += len - l->rest_room;
		l->rest_room = len;
	}
	if (len)
		memcpy(l->rest, from, len);
	l->rest_len = len;
}

static void file_end(struct lines *l)
{
	l->closed_bytes += decoder_taken(l->file);
	decoder_close(l->file);
	l->file = NULL;
	l->rest_len = 0;
}

static const char *file_name(const struct lines *l)
{
	const char *name = l->options.names[l->next - 1];
	return strcmp(name, "-") ? name : "standard input";
}

/* Checks the first chunk of a file. Return: false after a message if the file is not a list of
 * keys. */
static bool is_list(const struct lines *l, const struct chunk *c)
{
	return l->file_chunks || l->options.as_is ||
	       looks_like_keys(file_name(l), c->data, c->len, l->options.delimiter);
}

/* Reports a line that fills its chunk. @no_room: true if memory is too short for a larger chunk,
 * and false if the line exceeds LINE_MOST. Return: false. */
static bool too_long(const struct lines *l, const struct chunk *c, bool no_room)
{
	char number[24] = "";
	if (!is_list(l, c))
		return false;
	if (l->options.numbered)
		snprintf(number, sizeof number, ":%llu", (unsigned long long)l->file_lines + 1);
	say("%s%s: a line of more than %s, from byte %llu on%s: is it text?%s",
	    file_name(l), number, show_bytes(SHOW, no_room ? c->len : LINE_MOST),
	    (unsigned long long)l->file_bytes + 1,
	    no_room ? ", for which memory is too short" : "",
	    l->options.delimiter ? " (-0 is for keys that end with NUL bytes)" : "");
	return false;
}

/* Return: true if the first line exceeds LINE_MOST. A chunk grows only for its first line, so all
 * other lines are shorter. */
static bool first_is_long(const struct lines *l, const struct chunk *c)
{
	return c->len > LINE_MOST && !memchr(c->data, l->options.delimiter, LINE_MOST + 1);
}

static int refuse_line(const struct lines *l, const struct chunk *c)
{
	(void)too_long(l, c, false);
	return -1;
}

/* Enlarges a chunk for a line that fills the chunk. Return: false after a message. */
static bool chunk_grow(struct lines *l, struct chunk *c)
{
	const size_t left = LINE_MOST + CHUNK_BYTES - c->room;
	const size_t more = c->room < left ? c->room : left;
	const bool no_room = l->allocated + more > l->options.room;
	if (no_room || c->len > LINE_MOST)
		return too_long(l, c, no_room);
	chunk_room(l, c, c->room + more);
	return true;
}

/* Frees a chunk that an earlier long line enlarged. */
static void chunk_shrink(struct lines *l, struct chunk *c)
{
	const size_t enough = chunk_bytes(l);
	if (c->room <= enough || l->rest_len + 2 > enough)
		return;
	l->allocated -= c->room;
	chunk_free(c);
}

/* Fills a chunk from the open file. Return: 1 if the chunk has lines, 0 at the end of the file, or
 * -1 after a message. */
static int fill(struct lines *l, struct chunk *c)
{
	chunk_shrink(l, c);
	chunk_room(l, c, chunk_bytes(l));
	chunk_room(l, c, l->rest_len + 2);
	c->len = l->rest_len;
	if (c->len)
		memcpy(c->data, l->rest, c->len);
	l->rest_len = 0;
	for (;;) {
		if (c->len + 1 >= c->room && !chunk_grow(l, c))
			return -1;
		ssize_t got = decoder_read(l->file, c->data + c->len, c->room - 1 - c->len);
		if (got < 0)
			return -1;
		if (got == 0)
			return !first_is_long(l, c) ? c->len > 0 : refuse_line(l, c);
		atomic_store(&l->bytes, l->closed_bytes + decoder_taken(l->file));
		char *last = memrchr(c->data + c->len, l->options.delimiter, (size_t)got);
		c->len += (size_t)got;
		if (last) {
			size_t whole = (size_t)(last + 1 - c->data);
			if (first_is_long(l, c))
				return refuse_line(l, c);
			keep_rest(l, c->data + whole, c->len - whole);
			c->len = whole;
			return 1;
		}
	}
}

static uint64_t count(const char *from, const char *end, char delimiter)
{
	uint64_t n = 0;
	for (; from < end; from++)
		n += *from == delimiter;
	return n;
}

/* Return: true if the file begins with the byte order mark of UTF-8. In NUL-ended records, the same
 * bytes may be part of a key. */
static bool is_marked(const struct lines *l, const struct chunk *c)
{
	const bool text = l->options.text || l->options.delimiter == '\n';
	return l->file_chunks == 0 && text && c->len >= 3 &&
	       memcmp(c->data, "\xef\xbb\xbf", 3) == 0;
}

/* Finds the first key of a chunk. Return: false after a message, if the file is not a list or its
 * header is wrong. The caller numbers the chunk only after success. Threads that print in order
 * wait for every number, so a refused chunk must get no number. */
static bool find_start(struct lines *l, struct chunk *c)
{
	c->file = file_name(l);
	if (!is_list(l, c))
		return false;
	const bool marked = is_marked(l, c);
	c->start = marked ? 3 : 0;
	l->marked += marked;
	while (l->awaits_header && c->start < c->len) {
		char *line = c->data + c->start;
		char *end = memchr(line, l->options.delimiter, c->len - c->start);
		size_t len = end ? (size_t)(end - line) : c->len - c->start;
		int is = l->options.header(l->options.header_arg, c->file,
		                           (struct iovec){ line, len }, &l->field);
		if (is < 0)
			return false;
		l->awaits_header = !is;
		c->start += len + (end != NULL);
	}
	c->field = l->field;
	return true;
}

static void number(struct lines *l, struct chunk *c)
{
	c->number = l->chunks++;
	c->file_number = l->next - 1;
	c->first = l->file_chunks++ == 0;
	c->before = l->file_lines;
	l->file_bytes += c->len;
	if (l->options.numbered)
		l->file_lines += count(c->data, c->data + c->len, l->options.delimiter);
}

uint64_t chunk_line(const struct lines *l, const struct chunk *c, const char *line)
{
	return c->before + count(c->data, line, l->options.delimiter) + 1;
}

static int next_locked(struct lines *l, struct chunk *c)
{
	while (!l->stopped && (l->file || l->next < l->options.n)) {
		int got = -1;
		if (!l->file) {
			l->file = decoder_open(l->options.names[l->next++], l->options.as_is,
			                       l->unpack_memory);
			l->file_chunks = l->file_lines = l->file_bytes = 0;
			l->awaits_header = l->options.header != NULL;
			l->field = 0;
		}
		if (l->file)
			got = fill(l, c);
		if (got > 0 && !find_start(l, c))
			got = -1;
		if (got > 0) {
			number(l, c);
			return 1;
		}
		if (l->file)
			file_end(l);
		if (got < 0) {
			l->failed = true;
			l->stopped = !l->options.go_on;
		}
	}
	return l->stopped ? -1 : 0;
}

int lines_next(struct lines *l, struct chunk *c)
{
	pthread_mutex_lock(&l->read_lock);
	int result = next_locked(l, c);
	pthread_mutex_unlock(&l->read_lock);
	return result;
}

size_t chunk_keys(const struct lines *l, const struct chunk *c, size_t *at, struct iovec *keys,
                  size_t max)
{
	size_t n = 0;
	if (*at == 0)
		*at = c->start;
	while (n < max && *at < c->len) {
		char *line = c->data + *at;
		char *end = memchr(line, l->options.delimiter, c->len - *at);
		/* The last line of a file may lack its delimiter. */
		size_t len = end ? (size_t)(end - line) : c->len - *at;
		*at += len + 1;
		if (len || !l->options.skip_empty)
			keys[n++] = (struct iovec){ line, len };
	}
	return n;
}

int64_t lines_total_bytes(const struct lines_options *options)
{
	int64_t total = 0;
	bool regular = options->n > 0;
	for (size_t i = 0; i < options->n; i++) {
		struct stat st = { 0 };
		if (strcmp(options->names[i], "-") == 0) {
			regular = false;
		} else if (stat(options->names[i], &st)) {
			(void)trouble_unopened(errno, options->names[i], SAY_KEYS);
			return -1;
		} else {
			regular = regular && S_ISREG(st.st_mode);
			total += st.st_size;
		}
	}
	return regular ? total : 0;
}

uint64_t lines_done_bytes(const struct lines *l)
{
	return atomic_load(&((struct lines *)l)->bytes);
}

bool lines_torn(struct lines *l)
{
	pthread_mutex_lock(&l->read_lock);
	const bool first = !l->torn;
	l->torn = l->failed = true;
	pthread_mutex_unlock(&l->read_lock);
	return first;
}

bool lines_failed(const struct lines *l)
{
	return l->failed;
}

uint64_t lines_marked(const struct lines *l)
{
	return l->marked;
}

void lines_say_marked(uint64_t files)
{
	if (files)
		say("byte order marks of UTF-8 left out: %llu, at the start of files",
		    (unsigned long long)files);
}

/* ---- the number of keys in each file, which threads add up chunk by chunk ---- */

struct file {
	atomic_uint_fast64_t keys, bad;
};

struct tally {
	const struct lines_options *from;
	size_t n;
	struct file files[];
};

struct tally *tally_new(const struct lines_options *from)
{
	const size_t n = from->n ? from->n : 1; /* without names, the input is standard input */
	struct tally *t = xmalloc(sizeof *t + n * sizeof *t->files);
	t->from = from;
	t->n = n;
	for (size_t i = 0; i < n; i++) {
		atomic_init(&t->files[i].keys, 0);
		atomic_init(&t->files[i].bad, 0);
	}
	return t;
}

void tally_add(struct tally *t, const struct chunk *chunk, uint64_t keys, uint64_t bad)
{
	atomic_fetch_add(&t->files[chunk->file_number].keys, keys);
	atomic_fetch_add(&t->files[chunk->file_number].bad, bad);
}

struct keyless tally_end(struct tally *t)
{
	struct keyless none = { 0 };
	for (size_t i = t->n; i-- > 0;) {
		if (atomic_load(&t->files[i].keys))
			continue;
		none.files++;
		none.name = t->from->n ? t->from->names[i] : standard_input;
		none.bad = atomic_load(&t->files[i].bad);
	}
	free(t);
	return none;
}
