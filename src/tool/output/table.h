/* SPDX-License-Identifier: MIT
 * A table of text with columns as wide as their widest cell. */
#ifndef WEIR_TOOL_TABLE_H
#define WEIR_TOOL_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct table {
	const char *align; /* a column a letter: 'l' left, 'r' right */
	char **cells;
	size_t n;
};

#define TABLE_INIT(align) { align, NULL, 0 }

/* The next cell, row by row. */
void table_add(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_print(const struct table *table, FILE *to);
void table_free(struct table *table);

#endif
