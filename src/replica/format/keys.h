/* SPDX-License-Identifier: MIT
 * Names of a set's keys in redis. All keys have the same hash tag, so a Cluster keeps them
 * on one server. */
#ifndef WEIR_REPLICA_KEYS_H
#define WEIR_REPLICA_KEYS_H

#include "manifest.h"

enum { WEIR_KEY_TEXT = 176 }; /* limit in bytes of a key's name, with set, image hash, chunk */

struct weir_key_names {
	char prefix[WEIR_KEY_TEXT]; /* prefix of all keys */
	char head[WEIR_KEY_TEXT], log[WEIR_KEY_TEXT], kept[WEIR_KEY_TEXT];
	char nodes[WEIR_KEY_TEXT], lease[WEIR_KEY_TEXT];
};

void weir__keys_make(struct weir_key_names *keys, const char *set);

/* Write the prefix of an image's chunk keys; a chunk's number follows it. Return: @text. */
const char *weir__key_of_image(char text[WEIR_KEY_TEXT], const struct weir_key_names *keys,
                               const unsigned char hash[WEIR_IMAGE_HASH]);

/* ---- the two scripts, as text for EVAL ---- */

extern const char weir__touch_lua[], weir__publish_lua[];

#endif
