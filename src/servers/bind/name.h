/* SPDX-License-Identifier: MIT
 * A domain name as the keys of an image have it: labels joined by dots, in lower case, without a
 * dot at the end. */
#ifndef WEIR_SERVERS_BIND_NAME_H
#define WEIR_SERVERS_BIND_NAME_H

#include <stddef.h>
#include <stdint.h>

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

#endif
