/* SPDX-License-Identifier: MIT
 * Names of keys. */
#include "keys.h"
#include <inttypes.h>
#include <stdio.h>

void weir__keys_make(struct weir_key_names *k, const char *set)
{
	static const char *const names[WEIR_KEYS] = { "manifest", "stream", "lease", "kept",
	                                              "nodes" };
	snprintf(k->set, sizeof k->set, "%s", set);
	for (unsigned i = 0; i < WEIR_KEYS; i++)
		snprintf(k->of[i], sizeof k->of[i], "{weir:%s}:%s", k->set, names[i]);
	snprintf(k->hint, sizeof k->hint, "{weir:%s}:hint", k->set);
}

const char *weir__key_of_chunks(char text[WEIR_KEY_TEXT], const struct weir_key_names *k,
                                uint64_t stored)
{
	snprintf(text, WEIR_KEY_TEXT, "{weir:%s}:c:%016" PRIx64 ":", k->set, stored);
	return text;
}
