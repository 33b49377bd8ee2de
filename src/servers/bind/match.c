/* SPDX-License-Identifier: MIT
 * A set of domains (--suffixes) reports which suffixes of a name it has. Any other set has only
 * whole domains as keys. This file then looks up all suffixes in one batch, so that their cache
 * misses overlap. */
#include <string.h>
#include <sys/uio.h>
#include <weir/filter.h>
#include <weir/text.h>
#include "match.h"

/* ---- a name as a key ---- */

/* Append one byte of a label. */
static char *put(char *to, unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		c = (unsigned char)(c + ('a' - 'A'));
	if (c <= ' ' || c >= 127) {
		*to++ = '\\';
		*to++ = (char)('0' + c / 100);
		*to++ = (char)('0' + c / 10 % 10);
		c = (unsigned char)('0' + c % 10);
	} else if (strchr("\".;\\()@$", c)) {
		*to++ = '\\';
	}
	*to++ = (char)c;
	return to;
}

void name_text(struct name *out, const unsigned char *wire, size_t bytes)
{
	const unsigned char *end = wire + bytes;
	char *to = out->text;
	out->labels = 0;
	while (wire < end && *wire && *wire <= 63 && out->labels < NAME_LABELS) {
		const unsigned char *next = wire + 1 + *wire;
		if (next > end)
			break;
		if (out->labels)
			*to++ = '.';
		out->at[out->labels++] = (uint16_t)(to - out->text);
		while (++wire < next)
			to = put(to, *wire);
	}
	out->len = (size_t)(to - out->text);
}

/* ---- the suffix ---- */

int match_serves(const struct weir_filter *f)
{
	struct weir_text normal;
	weir_text_of(f, &normal);
	return !(normal.steps & WEIR_TEXT_CIDR);
}

/* The batch has the shortest suffix first, so the highest bit found is the longest suffix. */
static int by_label(const struct weir_filter *f, const struct name *name)
{
	uint64_t found[WEIR_BITMAP_WORDS(NAME_LABELS)];
	struct iovec keys[NAME_LABELS];
	for (unsigned i = 0; i < name->labels; i++) {
		unsigned at = name->at[name->labels - 1 - i];
		keys[i].iov_base = (char *)name->text + at;
		keys[i].iov_len = name->len - at;
	}
	if (!name->labels || !weir_contains_keys(f, weir_keys_iov(keys, name->labels), found))
		return -1;
	size_t word = WEIR_BITMAP_WORDS(name->labels) - 1;
	while (!found[word])
		word--;
	return (int)name->labels - 64 * (int)word - 64 + __builtin_clzll(found[word]);
}

/* A set of domains (--suffixes) does not parse escapes such as "\.", so a match may begin within a
 * label. Accept a matching key only if the key begins at a label. */
static int by_domain(const struct weir_filter *f, const struct name *name)
{
	char room[WEIR_TEXT_ROOM(NAME_ROOM)];
	struct iovec keys[WEIR_TEXT_LOOKUPS];
	int n = weir_text_matches(f, name->text, name->len, room, keys);
	for (unsigned label = 0; n > 0 && label < name->labels; label++) {
		while (n > 0 && name->len - name->at[label] < keys[n - 1].iov_len)
			n--;
		if (n > 0 && name->len - name->at[label] == keys[n - 1].iov_len)
			return (int)label;
	}
	return -1;
}

int match_suffix(const struct weir_filter *f, const struct name *name)
{
	struct weir_text normal;
	weir_text_of(f, &normal);
	return normal.steps & WEIR_TEXT_SUFFIXES ? by_domain(f, name) : by_label(f, name);
}
