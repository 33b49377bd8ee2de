/* SPDX-License-Identifier: MIT
 * See find.h. One thread reads: it happens once, if at all. */
#include "find.h"
#include <stdlib.h>
#include <string.h>
#include "output/progress.h"
#include "output/say.h"

enum { KEYS = 256 };

struct search {
	const struct fill *fill;
	const struct weir_builder *builder;
	struct lines *lines;
	struct keyer keyer;
	struct find *find;
};

static char *copy_of(const void *bytes, size_t len)
{
	char *copy = need(len + 1);
	memcpy(copy, bytes, len);
	copy[len] = '\0';
	return copy;
}

static void found(struct search *s, const struct chunk *chunk, const struct iovec *line,
                  const struct iovec *key)
{
	s->find->file = copy_of(chunk->file, strlen(chunk->file));
	s->find->line = chunk_line(s->lines, chunk, line->iov_base);
	s->find->text = copy_of(line->iov_base, line->iov_len);
	s->find->text_len = line->iov_len;
	s->find->key = copy_of(key->iov_base, key->iov_len);
	s->find->len = key->iov_len;
}

/* The keys of a line; one that is passed over has none. */
static void look(struct search *s, const struct chunk *chunk, struct iovec line)
{
	const char *why;
	const bool keyed = keying_any(&s->fill->keying);
	keyer_clear(&s->keyer);
	if (keyed && !keyer_take(&s->keyer, line, &why))
		return;
	const struct iovec *keys = keyed ? s->keyer.keys : &line;
	for (size_t i = 0; i < (keyed ? s->keyer.n : 1) && !s->find->key; i++)
		if (weir_builder_hash(s->builder, keys[i].iov_base, keys[i].iov_len) ==
		    s->find->hash)
			found(s, chunk, &line, &keys[i]);
}

static int search(struct search *s)
{
	struct chunk chunk = { 0 };
	struct iovec lines[KEYS];
	int got = 0;
	while (!s->find->key && (got = lines_next(s->lines, &chunk)) > 0) {
		size_t at = 0, n;
		keyer_chunk(&s->keyer, &chunk);
		while ((n = chunk_keys(s->lines, &chunk, &at, lines, KEYS)) > 0)
			for (size_t i = 0; i < n && !s->find->key; i++)
				look(s, &chunk, lines[i]);
	}
	chunk_free(&chunk);
	return got < 0 ? -1 : 0;
}

int find_key(const struct fill *fill, const struct weir_builder *builder, struct find *find)
{
	struct lines_options from = fill->from;
	from.numbered = true;
	struct search s = { .fill = fill, .builder = builder, .lines = lines_open(&from),
	                    .find = find };
	keyer_begin(&s.keyer, &fill->keying, fill->what);
	progress_begin("finding a key of both lists");
	int result = search(&s);
	progress_end();
	keyer_end(&s.keyer);
	lines_close(s.lines);
	return result;
}

void find_free(struct find *find)
{
	free(find->file);
	free(find->key);
	free(find->text);
}
