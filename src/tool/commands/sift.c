/* SPDX-License-Identifier: MIT
 * Selects lines by a filter. A thread looks up a whole chunk, and then waits until all earlier
 * chunks are printed, which keeps the order of the input. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "commands.h"
#include "input/keying.h"
#include "output/progress.h"
#include "output/say.h"
#include "query.h"

/* The largest number of keys in one call of the library, and of lines that are looked up at a
 * time. */
#define KEYS 512

struct sifting {
	struct sift *sift;
	struct lines *lines;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	uint64_t next_to_print; /* number of the chunk to be printed next */
	bool keyed;    /* keys are made from the lines; false: each line is a key */
	atomic_uint_fast64_t bad;
	struct slashed slashed;
};

struct found {
	uint64_t lines, selected;
	size_t bytes; /* bytes of the selected lines, which stand at the front of the chunk */
};

/* Moves the selected lines to the front of their chunk, one run of adjacent lines at a time.
 * @bitmap: selects lines among the @n lines @keys. */
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
		/* The last line of a file may lack its delimiter. The chunk has a spare byte for
		 * it. */
		chunk->data[to - 1 - chunk->data] = delimiter;
		memmove(chunk->data + *end, from, (size_t)(to - from));
		*end += (size_t)(to - from);
	}
}

static void is_bad(struct sifting *s, const struct chunk *chunk, const struct keyer *keyer,
                   const char *line, const char *why)
{
	const bool first = atomic_fetch_add(&s->bad, 1) == 0;
	if (keyer->open ? lines_torn(s->lines) : first && !keyer_passes(keyer))
		keyer_report(keyer, s->lines, chunk, line, why);
}

/* Looks up a group of lines, except comments and wrong lines. Both bitmaps must be zero before the
 * call. @in: receives a bitmap of the lines that were looked up. @maybe: receives a bitmap of the
 * lines that may be in the set. */
static void ask_keyed(struct sifting *s, const struct chunk *chunk, struct keyer *keyer,
                      const struct iovec *lines, size_t n, uint64_t *in, uint64_t *maybe)
{
	uint64_t bits[WEIR_BITMAP_WORDS(KEYS)];
	const char *why;
	keyer_clear(keyer);
	for (size_t i = 0; i < n; i++) {
		if (!keyer_take(keyer, lines[i], &why))
			is_bad(s, chunk, keyer, lines[i].iov_base, why);
		else if (keyer->texts)
			in[i / 64] |= UINT64_C(1) << i % 64;
	}
	for (size_t at = 0, some; at < keyer->n; at += some) {
		some = keyer->n - at < KEYS ? keyer->n - at : KEYS;
		weir_contains_keys(s->sift->filter, weir_keys_iov(keyer->keys + at, some), bits);
		for (size_t i = 0; i < some; i++) {
			uint32_t line = keyer->of[at + i];
			maybe[line / 64] |= (bits[i / 64] >> i % 64 & 1) << line % 64;
		}
	}
}

static size_t count(const uint64_t *bitmap, size_t n)
{
	size_t bits = 0;
	for (size_t w = 0; w < WEIR_BITMAP_WORDS(n); w++)
		bits += (size_t)__builtin_popcountll(bitmap[w]);
	return bits;
}

static struct found ask(struct sifting *s, struct chunk *chunk, struct keyer *keyer)
{
	const struct sift *sift = s->sift;
	struct iovec keys[KEYS];
	struct found found = { 0, 0, 0 };
	size_t at = 0, n;
	while ((n = chunk_keys(s->lines, chunk, &at, keys, KEYS)) > 0) {
		uint64_t bitmap[WEIR_BITMAP_WORDS(KEYS)] = { 0 };
		uint64_t in[WEIR_BITMAP_WORDS(KEYS)] = { 0 };
		size_t lines = n, maybe;
		if (s->keyed) {
			ask_keyed(s, chunk, keyer, keys, n, in, bitmap);
			lines = count(in, n);
			maybe = count(bitmap, n);
		} else {
			maybe = (size_t)weir_contains_keys(sift->filter,
			                                   weir_keys_iov(keys, n), bitmap);
		}
		if (sift->invert)
			for (size_t w = 0; w < WEIR_BITMAP_WORDS(n); w++)
				bitmap[w] = s->keyed ? in[w] & ~bitmap[w] : ~bitmap[w];
		found.lines += lines;
		found.selected += sift->invert ? lines - maybe : maybe;
		if (sift->print)
			gather(chunk, keys, n, bitmap, sift->from.delimiter, &found.bytes);
	}
	return found;
}

/* Prints lines for people: escapes each line, but not its delimiter. */
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
		/* Other threads may still be reading, so exit without cleanup. */
		_exit(TOOL_TROUBLE);
	}
}

/* Waits until all earlier chunks are printed. Then adds up the chunk's figures and prints its
 * lines. */
static void conclude(struct sifting *s, const struct chunk *chunk, const struct found *found)
{
	pthread_mutex_lock(&s->lock);
	while (s->next_to_print != chunk->number)
		pthread_cond_wait(&s->moved, &s->lock);
	s->sift->lines += found->lines;
	s->sift->selected += found->selected;
	if (s->sift->first_only && found->selected)
		/* Another thread may be blocked in a read, so exit without a join. */
		_exit(TOOL_OK);
	print(s->sift, chunk->data, found->bytes);
	s->next_to_print++;
	pthread_cond_broadcast(&s->moved);
	pthread_mutex_unlock(&s->lock);
}

static void worker(void *arg)
{
	struct sifting *s = arg;
	struct chunk chunk = { 0 };
	struct keyer keyer;
	keyer_begin(&keyer, &s->sift->keying, s->sift->what);
	while (lines_next(s->lines, &chunk) > 0) {
		if (chunk.first)
			hint_lines(s->lines, &chunk, &s->sift->keying, HINT_LOOKUP);
		keyer_chunk(&keyer, &chunk);
		struct found found = ask(s, &chunk, &keyer);
		conclude(s, &chunk, &found);
	}
	pthread_mutex_lock(&s->lock);
	slashed_add(&s->slashed, &keyer.slashed);
	pthread_mutex_unlock(&s->lock);
	keyer_end(&keyer);
	chunk_free(&chunk);
}

bool sift_lines(struct sift *sift)
{
	struct sifting s = { .sift = sift, .lock = PTHREAD_MUTEX_INITIALIZER,
	                     .moved = PTHREAD_COND_INITIALIZER };
	sift->print = sift->print && !sift->first_only;
	sift->plain = plain_wanted(stdout);
	sift->keying.keep_local = true; /* also look up names of this machine and its network */
	s.keyed = keying_any(&sift->keying);
	keying_prepare(&sift->keying, &sift->from);
	sift->from.threads = sift->threads;
	s.lines = lines_open(&sift->from);
	run_threads(sift->threads, worker, NULL, &s);
	sift->bad = atomic_load(&s.bad);
	say_unanswered(sift->bad, sift->keying.skip_bad);
	bool failed = lines_failed(s.lines) || (sift->bad && !sift->keying.skip_bad);
	lines_say_marked(lines_marked(s.lines));
	hint_slashed(&s.slashed);
	lines_close(s.lines);
	pthread_cond_destroy(&s.moved);
	pthread_mutex_destroy(&s.lock);
	return !failed;
}
