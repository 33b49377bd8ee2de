/* SPDX-License-Identifier: MIT
 * A text's keys, and the memory that they live in: one key to insert, or several to look up. */
#include <errno.h>
#include <stdlib.h>
#include "keyer.h"
#include "output/say.h"

enum { ARENA_BYTES = 256 << 10, FIRST_KEYS = 1024 };

struct arena {
	struct arena *next;
	size_t used, room;
	char bytes[];
};

static struct arena *arena_new(size_t room, struct arena *next)
{
	struct arena *a = need(sizeof *a + room);
	*a = (struct arena){ .next = next, .room = room };
	return a;
}

void *keyer_bytes(struct keyer *k, size_t bytes)
{
	if (k->arena->room - k->arena->used < bytes)
		k->arena = arena_new(bytes > ARENA_BYTES ? bytes : ARENA_BYTES, k->arena);
	k->arena->used += bytes;
	return k->arena->bytes + k->arena->used - bytes;
}

void keyer_begin(struct keyer *k, const struct keying *how, enum keying_what what)
{
	*k = (struct keyer){ .how = how, .what = what, .noted = how->normal };
	k->field = how->field;
	k->arena = arena_new(ARENA_BYTES, NULL);
}

void keyer_clear(struct keyer *k)
{
	for (struct arena *next; (next = k->arena->next) != NULL; k->arena = next)
		free(k->arena);
	k->arena->used = 0;
	k->n = 0;
	k->lines = 0;
}

static void keyer_room(struct keyer *k, size_t more)
{
	if (k->room - k->n >= more)
		return;
	k->room = k->room ? 2 * k->room : FIRST_KEYS;
	k->keys = need_more(k->keys, k->room * sizeof *k->keys);
	k->of = need_more(k->of, k->room * sizeof *k->of);
}

/* Of a prefix each address would be looked up by keys of its own. */
static int excludable(const struct weir_normal *normal, struct iovec text)
{
	unsigned char key[WEIR_CIDR_KEY];
	if (!(normal->steps & WEIR_NORMAL_CIDR))
		return 0;
	int bytes = weir_normal_cidr(key, text.iov_base, text.iov_len);
	return bytes < 0 || key[0] == 8 * (bytes - 1) ? 0 : -EINVAL;
}

bool keyer_text(struct keyer *k, struct iovec text, const char **why)
{
	const struct weir_normal *normal = &k->how->normal;
	struct iovec bare = normal->steps & WEIR_NORMAL_TRIM ?
	                    weir_normal_trim(text.iov_base, text.iov_len) : text;
	if (!bare.iov_len && k->how->skip_empty)
		return true;
	k->texts++;
	keyer_room(k, WEIR_NORMAL_LOOKUPS);
	struct iovec *to = k->keys + k->n;
	void *room = keyer_bytes(k, weir_normal_room(normal, text.iov_len));
	int n = 1;
	if (k->what == KEYING_EXCLUDE && excludable(normal, bare)) {
		*why = "is a prefix: of a set of prefixes only single addresses are excluded";
		return false;
	}
	if (k->what != KEYING_INSERT)
		n = weir_normal_lookups(normal, text.iov_base, text.iov_len, room, to);
	else if (weir_normal_key(normal, text.iov_base, text.iov_len, room, to))
		n = -1;
	if (n < 0) {
		*why = weir_error_detail();
		return false;
	}
	if (k->what == KEYING_INSERT)
		(void)weir_normal_note(&k->noted, to);
	for (int i = 0; i < n; i++)
		k->of[k->n++] = k->lines;
	return true;
}

bool is_comment(const struct keying *how, struct iovec line)
{
	const char *at = line.iov_base, *end = at + line.iov_len;
	while (how->normal.steps & WEIR_NORMAL_TRIM && at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at < end && *at == '#';
}
