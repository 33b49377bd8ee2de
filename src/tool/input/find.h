/* SPDX-License-Identifier: MIT
 * The key of a hash in files. */
#ifndef WEIR_TOOL_FIND_H
#define WEIR_TOOL_FIND_H

#include <weir/weir.h>
#include "fill.h"

/* What is looked for, and where it was found. Start from { .hash = ... }. */
struct find {
	uint64_t hash;
	char *file; /* NULL: nowhere */
	uint64_t line;
	char *key;
	size_t len;
	char *text; /* the line */
	size_t text_len;
};

/* Read the files of @fill for the first key that has the hash in @builder. Return: 0, or -1 after a
 * message. */
int find_key(const struct fill *fill, const struct weir_builder *builder, struct find *find);
void find_free(struct find *find);

#endif
