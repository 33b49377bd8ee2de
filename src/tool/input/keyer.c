/* SPDX-License-Identifier: MIT
 * Turns a text into keys, and owns their memory. The result is the text itself, which the set
 * normalises later, or all keys that a lookup of the text probes. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	struct arena *a = xmalloc(sizeof *a + room);
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
	k->n = k->counted = 0;
	k->lines = 0;
}

static void keyer_reserve(struct keyer *k, size_t more)
{
	if (k->room - k->n >= more)
		return;
	k->room = k->room ? 2 * k->room : FIRST_KEYS;
	k->keys = xrealloc(k->keys, k->room * sizeof *k->keys);
	k->of = xrealloc(k->of, k->room * sizeof *k->of);
}

struct iovec text_trim(struct iovec text)
{
	static const struct weir_text trim = { .steps = WEIR_TEXT_TRIM };
	char room[WEIR_TEXT_ROOM(0)]; /* trimming needs no room: the key is a part of the text */
	return weir_text_key(&trim, text.iov_base, text.iov_len, room, &text) ?
	               (struct iovec){ NULL, 0 } : text;
}

bool keying_probes_several(const struct keying *how)
{
	return how->normal.steps & (WEIR_TEXT_CIDR | WEIR_TEXT_SUFFIXES);
}

/* Return: a key as text that sets can read back, such as "10.0.0.0/8" for a prefix. */
static struct iovec as_text(struct keyer *k, struct iovec key)
{
	enum { ROOM = INET6_ADDRSTRLEN + 4 };
	const unsigned char *prefix = key.iov_base;
	if (!(k->how->normal.steps & WEIR_TEXT_CIDR))
		return key;
	char *text = keyer_bytes(k, ROOM);
	(void)inet_ntop(key.iov_len == 5 ? AF_INET : AF_INET6, prefix + 1, text, ROOM);
	size_t len = strlen(text);
	len += (size_t)snprintf(text + len, ROOM - len, "/%u", *prefix);
	return (struct iovec){ text, len };
}

/* Makes all keys that a lookup of a text probes. Return: the number of keys, or a negative
 * errno. */
static int lookups(struct keyer *k, struct iovec text, struct iovec *to)
{
	void *room = keyer_bytes(k, WEIR_TEXT_ROOM(text.iov_len));
	return weir_text_lookups(&k->how->normal, text.iov_base, text.iov_len, room, to);
}

/* Return: true if the key is a prefix that covers several addresses. */
static bool is_prefix(const struct weir_text *normal, const struct iovec *key)
{
	const unsigned char *length = key->iov_base;
	return normal->steps & WEIR_TEXT_CIDR && *length < 8 * (key->iov_len - 1);
}

/* Checks that the set can read the text, and records the text's prefix length or number of labels.
 * Return: the fault, or NULL. */
static const char *fault_of(struct keyer *k, struct iovec text)
{
	const size_t bytes = WEIR_TEXT_ROOM(text.iov_len);
	const char *why = NULL;
	struct iovec key;
	if (!keying_probes_several(k->how))
		return NULL;
	if (weir_text_key(&k->how->normal, text.iov_base, text.iov_len, keyer_bytes(k, bytes),
	                  &key))
		why = weir_error_detail();
	else if (k->what == KEYING_TEXT)
		(void)weir_text_note(&k->noted, &key);
	else if (k->what == KEYING_EXCLUDE && is_prefix(&k->how->normal, &key))
		why = "is a prefix: of a set of prefixes only single addresses are excluded";
	k->arena->used -= bytes;
	return why;
}

static void note_slash(struct slashed *s, struct iovec text)
{
	const int most = (int)sizeof s->like - 4;
	if (!memchr(text.iov_base, '/', text.iov_len) || s->n++)
		return;
	const bool fits = text.iov_len <= (size_t)most;
	snprintf(s->like, sizeof s->like, "%.*s%s", fits ? (int)text.iov_len : most,
	         (const char *)text.iov_base, fits ? "" : "...");
}

bool keyer_text(struct keyer *k, struct iovec text, const char **why)
{
	struct iovec bare = k->how->normal.steps & WEIR_TEXT_TRIM ? text_trim(text) : text;
	if (!bare.iov_len && k->how->skip_empty)
		return true;
	k->texts++;
	*why = fault_of(k, text);
	if (*why)
		return false;
	if (k->how->normal.steps & WEIR_TEXT_SUFFIXES && text.iov_len)
		note_slash(&k->slashed, text);
	keyer_reserve(k, WEIR_TEXT_LOOKUPS);
	struct iovec *to = k->keys + k->n;
	const int probed = k->what == KEYING_TEXT ? 1 : lookups(k, text, to);
	int n = probed;
	if (k->what != KEYING_LOOKUP) {
		n = probed > 0;
		*to = text;
	}
	for (int i = 0; i < n; i++, k->n++) {
		k->of[k->n] = k->lines;
		if (k->what == KEYING_LOOKUP)
			k->keys[k->n] = as_text(k, k->keys[k->n]);
	}
	k->counted += (size_t)probed;
	return true;
}

bool is_comment(const struct keying *how, struct iovec line)
{
	const char *at = line.iov_base, *end = at + line.iov_len;
	while (how->normal.steps & WEIR_TEXT_TRIM && at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at < end && *at == '#';
}
