/* SPDX-License-Identifier: MIT
 * The longest suffix of a domain name that a filter has. */
#ifndef WEIR_SERVERS_BIND_MATCH_H
#define WEIR_SERVERS_BIND_MATCH_H

#include <stddef.h>
#include <stdint.h>

/* A domain name as the keys of an image spell it: labels joined by dots, in lower case, without a
 * dot at the end. */

enum {
	NAME_LABELS = 127, /* 254 bytes beside the root's, two a label */
	NAME_ROOM = 1024,  /* 254 bytes, each escaped as \ and three digits, make 1016 */
};

struct name {
	size_t len;
	unsigned labels;            /* without the root's; 0: the name is the root */
	uint16_t at[NAME_LABELS];   /* offset of each label in the text */
	char text[NAME_ROOM];
};

/* Convert a name from uncompressed wire format: @bytes bytes that end with the root's label. A byte
 * that a zone file must escape is escaped as dig prints it. A dot within a label becomes "\.", so
 * that it ends no label, and a blank becomes "\032". */
void name_text(struct name *out, const unsigned char *wire, size_t bytes);

/* ---- the suffix ---- */

struct weir_filter;

/* Return: can the keys of the filter be domains? Addresses (--cidr) cannot. */
int match_serves(const struct weir_filter *f);

/* Return: the first label of the longest suffix in the set, 0 for the whole name; -1: the set has
 * no suffix. The root is in no set. Call it in a read-side section of the filter's handle. */
int match_suffix(const struct weir_filter *f, const struct name *name);

#endif
