/* SPDX-License-Identifier: MIT
 * An image with the step suffixes is asked through the normaliser, which leaves out the numbers of
 * labels that its set has no key of. Any other is asked for each suffix: its keys are the domains
 * alone.
 * Either way the suffixes of a name are one batch, whose cache misses overlap. */
#include <string.h>
#include <sys/uio.h>
#include <weir/filter.h>
#include <weir/normalise.h>
#include "match.h"

/* ---- a name as a key ---- */

/* One byte of a label. */
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
	struct weir_normal normal;
	weir_normal_of(f, &normal);
	return !(normal.steps & WEIR_NORMAL_CIDR);
}

/* The index of the last key that is in the set, or -1. */
static int last(const struct weir_filter *f, const struct iovec *keys, size_t n)
{
	uint64_t found[WEIR_BITMAP_WORDS(WEIR_NORMAL_LOOKUPS)];
	if (n == 0 || weir_contains_keys(f, weir_keys_iov(keys, n), found) == 0)
		return -1;
	size_t word = WEIR_BITMAP_WORDS(n) - 1;
	while (!found[word])
		word--;
	return (int)word * 64 + 63 - __builtin_clzll(found[word]);
}

/* Both ask for the shortest suffix first. */
static int by_label(const struct weir_filter *f, const struct name *name)
{
	struct iovec keys[NAME_LABELS];
	for (unsigned i = 0; i < name->labels; i++) {
		unsigned at = name->at[name->labels - 1 - i];
		keys[i].iov_base = (char *)name->text + at;
		keys[i].iov_len = name->len - at;
	}
	int found = last(f, keys, name->labels);
	return found < 0 ? -1 : (int)name->labels - 1 - found;
}

/* The normaliser knows no escapes: of its keys those stay that begin where a label does. */
static int by_steps(const struct weir_filter *f, const struct name *name,
                    const struct weir_normal *normal)
{
	char room[2 * NAME_ROOM];
	struct iovec keys[WEIR_NORMAL_LOOKUPS];
	int label_of[WEIR_NORMAL_LOOKUPS];
	if (weir_normal_room(normal, name->len) > sizeof room)
		return -1;
	int n = weir_normal_lookups(normal, name->text, name->len, room, keys), kept = 0;
	int label = (int)name->labels - 1;
	for (int i = 0; i < n; i++) {
		while (label >= 0 && name->len - name->at[label] < keys[i].iov_len)
			label--;
		if (label >= 0 && name->len - name->at[label] == keys[i].iov_len) {
			label_of[kept] = label;
			keys[kept++] = keys[i];
		}
	}
	int found = last(f, keys, (size_t)kept);
	return found < 0 ? -1 : label_of[found];
}

int match_suffix(const struct weir_filter *f, const struct name *name)
{
	struct weir_normal normal;
	weir_normal_of(f, &normal);
	return normal.steps & WEIR_NORMAL_SUFFIXES ? by_steps(f, name, &normal)
	                                           : by_label(f, name);
}
