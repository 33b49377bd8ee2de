/* SPDX-License-Identifier: MIT
 * Finds the longest suffix of a domain name that is in a filter. */
#ifndef WEIR_SERVERS_BIND_MATCH_H
#define WEIR_SERVERS_BIND_MATCH_H

#include <stddef.h>
#include <stdint.h>

/* A domain name in the form of an image's keys: labels in lower case, joined by dots. */

enum {
	NAME_LABELS = 127, /* at least 2 of 254 bytes for each label */
	NAME_ROOM = 1024,  /* at most 254 bytes, each escaped as \ and three digits: 1016 */
};

struct name {
	size_t len;
	unsigned labels;            /* without the root label; 0: the name is the root */
	uint16_t at[NAME_LABELS];   /* offset of each label in the text */
	char text[NAME_ROOM];
};

/* Convert a name from uncompressed wire format: @bytes bytes, which end with the root label. A byte
 * that a zone file must escape is escaped as in dig's output. A dot within a label becomes "\.", so
 * it does not end the label. A blank becomes "\032". */
void name_text(struct name *out, const unsigned char *wire, size_t bytes);

/* ---- the suffix ---- */

struct weir_filter;

/* Return: true if the filter's keys may be domains; false if they are addresses (--cidr). */
int match_serves(const struct weir_filter *f);

/* Return: the first label of the longest suffix in the set, 0 for the whole name; -1: the set has
 *   no suffix of the name. No set has the root. The caller is in a read-side section of the
 *   handle. */
int match_suffix(const struct weir_filter *f, const struct name *name);

#endif
