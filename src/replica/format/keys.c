/* SPDX-License-Identifier: MIT
 * Names of keys in redis, and the scripts, which the build turns into C strings. */
#include "keys.h"
#include <stdio.h>

const char weir__touch_lua[] =
#include <touch.lua.h>
	;
const char weir__publish_lua[] =
#include <publish.lua.h>
	;

static void name(char key[WEIR_KEY_TEXT], const struct weir_key_names *keys, const char *what)
{
	snprintf(key, WEIR_KEY_TEXT, "%.*s%s", WEIR_SET_NAME + 16, keys->prefix, what);
}

void weir__keys_make(struct weir_key_names *keys, const char *set)
{
	snprintf(keys->prefix, sizeof keys->prefix, "{weir:%.*s}:2:", WEIR_SET_NAME, set);
	name(keys->head, keys, "head");
	name(keys->log, keys, "log");
	name(keys->kept, keys, "kept");
	name(keys->nodes, keys, "nodes");
	name(keys->lease, keys, "lease");
}

const char *weir__key_of_image(char text[WEIR_KEY_TEXT], const struct weir_key_names *keys,
                               const unsigned char hash[WEIR_IMAGE_HASH])
{
	char hex[2 * WEIR_IMAGE_HASH + 1];
	for (unsigned i = 0; i < WEIR_IMAGE_HASH; i++)
		snprintf(hex + 2 * i, 3, "%02x", hash[i]);
	snprintf(text, WEIR_KEY_TEXT, "%.*simg:%s:", WEIR_SET_NAME + 16, keys->prefix, hex);
	return text;
}
