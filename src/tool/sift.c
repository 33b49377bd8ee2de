/* SPDX-License-Identifier: MIT
 * Lines selected by a filter. Threads ask for whole chunks at once and then wait for their turn
 * to print, so that the order of the input is kept. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "crew.h"
#include "plain.h"
#include "say.h"
#include "sift.h"
#include "tool.h"

#define KEYS 512 /* of one call: the batch pipeline's own groups are far smaller */

struct sifting {
	struct sift *sift;
	struct lines *lines;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	uint64_t turn; /* the chunk to be printed next */
};

struct found {
	uint64_t lines, selected;
	size_t bytes; /* selected lines, moved to the front of the chunk */
};

/* Move the selected ones of @n keys to the front of their chunk, runs of neighbours at once. */
static void gather(struct chunk *chunk, const struct iovec *keys, size_t n, const uint64_t *bitmap,
                   char delimiter, size_t *end)
{
	for (size_t i = 0; i < n;) {
		if (!(bitmap[i / 64] >> i % 64 & 1)) {
			i++;
			continue;
		}
		const char *from = keys[i].iov_base, *to = from;
		for (; i < n && keys[i].iov_base == to && bitmap[i / 64] >> i % 64 & 1; i++)
			to += keys[i].iov_len + 1;
		/* which a file's last line may lack; the chunk has room for it */
		chunk->data[to - 1 - chunk->data] = delimiter;
		memmove(chunk->data + *end, from, (size_t)(to - from));
		*end += (size_t)(to - from);
	}
}

static struct found ask(const struct sifting *s, struct chunk *chunk)
{
	const struct sift *sift = s->sift;
	struct iovec keys[KEYS];
	uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS)];
	struct found found = { 0, 0, 0 };
	size_t at = 0, n;
	while ((n = chunk_keys(s->lines, chunk, &at, keys, KEYS)) > 0) {
		size_t maybe = weir_contains_keys(sift->filter, keys, n, bitmap);
		if (sift->invert)
			for (size_t w = 0; w < WEIR_BITMAP_WORDS(n); w++)
				bitmap[w] = ~bitmap[w];
		found.lines += n;
		found.selected += sift->invert ? n - maybe : maybe;
		if (sift->print)
			gather(chunk, keys, n, bitmap, sift->from.delimiter, &found.bytes);
	}
	return found;
}

/* For people: each line escaped, its end as it is. */
static bool print_plain(const char *data, size_t bytes, char delimiter)
{
	for (const char *end = data + bytes, *next; data < end; data = next) {
		const char *stop = memchr(data, delimiter, (size_t)(end - data));
		next = stop ? stop + 1 : end;
		if (!plain_write(data, (size_t)((stop ? stop : end) - data), stdout) ||
		    (stop && putchar(delimiter) == EOF))
			return false;
	}
	return true;
}

static void print(const struct sift *sift, const char *data, size_t bytes)
{
	bool ok = !bytes || (sift->plain ? print_plain(data, bytes, sift->from.delimiter) :
	                                   fwrite(data, 1, bytes, stdout) == bytes);
	if (bytes && (!ok || fflush(stdout))) {
		say("cannot write the output: %s", strerror(errno));
		/* other threads may be reading: nothing is left to be tidied */
		_exit(TOOL_TROUBLE);
	}
}

/* In the order of the chunks. */
static void conclude(struct sifting *s, const struct chunk *chunk, const struct found *found)
{
	pthread_mutex_lock(&s->lock);
	while (s->turn != chunk->number)
		pthread_cond_wait(&s->moved, &s->lock);
	s->sift->lines += found->lines;
	s->sift->selected += found->selected;
	if (s->sift->first_only && found->selected)
		_exit(TOOL_OK); /* another thread may be waiting for input that never comes */
	print(s->sift, chunk->data, found->bytes);
	s->turn++;
	pthread_cond_broadcast(&s->moved);
	pthread_mutex_unlock(&s->lock);
}

static void worker(void *arg)
{
	struct sifting *s = arg;
	struct chunk chunk = { 0 };
	while (lines_next(s->lines, &chunk) > 0) {
		struct found found = ask(s, &chunk);
		conclude(s, &chunk, &found);
	}
	chunk_free(&chunk);
}

bool sift_lines(struct sift *sift)
{
	struct sifting s = { .sift = sift, .lock = PTHREAD_MUTEX_INITIALIZER,
	                     .moved = PTHREAD_COND_INITIALIZER };
	sift->print = sift->print && !sift->first_only;
	sift->plain = plain_wanted(stdout);
	s.lines = lines_open(&sift->from);
	crew_run(sift->threads, worker, NULL, &s);
	bool failed = lines_failed(s.lines);
	lines_close(s.lines);
	pthread_cond_destroy(&s.moved);
	pthread_mutex_destroy(&s.lock);
	return !failed;
}
