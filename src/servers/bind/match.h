/* SPDX-License-Identifier: MIT
 * Which suffix of a domain name a filter has. */
#ifndef WEIR_SERVERS_BIND_MATCH_H
#define WEIR_SERVERS_BIND_MATCH_H

#include <stddef.h>
#include <stdint.h>

/* A domain name as the keys of an image have it: labels joined by dots, in lower case, without a
 * dot at the end. */

enum {
	NAME_LABELS = 127, /* of 255 bytes, of which the root takes one */
	NAME_ROOM = 1024,  /* 254 bytes, each as \ and three digits, make 1016 */
};

struct name {
	size_t len;
	unsigned labels;            /* without the root's; 0: it is the root */
	uint16_t at[NAME_LABELS];   /* where each label begins in the text */
	char text[NAME_ROOM];
};

/* The name in wire format, uncompressed, of @bytes bytes that end with the root's label. Bytes
 * that would not be themselves in a zone file are escaped as dig prints them: a dot within a label
 * is "\.", so that it ends no label, and a blank is "\032". */
void name_text(struct name *out, const unsigned char *wire, size_t bytes);

/* ---- the suffix ---- */

struct weir_filter;

/* Whether the keys of a filter can be domains: not if they are addresses (--cidr). */
int match_serves(const struct weir_filter *f);

/* Return: the label at which the longest suffix that is in the set begins, 0 for the whole name;
 * -1: none is. The root is in no set. Call it in a read-side section of the filter's handle. */
int match_suffix(const struct weir_filter *f, const struct name *name);

#endif
