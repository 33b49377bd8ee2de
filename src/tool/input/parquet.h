/* SPDX-License-Identifier: MIT
 * A column of a Parquet file as the command line names it, FILE:COLUMN: its filters, and text as
 * its values. */
#ifndef WEIR_TOOL_PARQUET_H
#define WEIR_TOOL_PARQUET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include <weir/parquet.h>

/* A row group's filter of the column. */
struct parquet_group {
	struct weir_filter *filter; /* NULL: it has none, and may hold any value */
	uint64_t rows;
};

struct parquet_column {
	const char *name; /* its path, a part of the argument */
	struct weir_parquet_column is;
	struct parquet_group *groups;
	uint32_t n, lacking; /* row groups, and those without a filter */
};

/* Does it name a Parquet file, with a column or without? Of an image that exists, no. */
bool parquet_named(const char *argument);

/* Open a file. @max_memory: for its footer, and for one filter. Return: NULL after a message. */
struct weir_parquet *parquet_open(const char *path, uint64_t max_memory);
/* A call failed with @err. Return: TOOL_TROUBLE after a message. */
int parquet_trouble(int err, const char *path, uint64_t max_memory);
/* A column's path, to be freed. */
char *parquet_path(const struct weir_parquet *file, uint32_t column);

/* Read what FILE:COLUMN names. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int parquet_load(struct parquet_column *out, const char *argument, uint64_t max_memory);
void parquet_free(struct parquet_column *column);

/* ---- from text to values ---- */

/* The hashes of what a text may stand for: of a zero, 0.0 and -0.0. */
struct parquet_value {
	uint64_t hash[2];
	unsigned n;
};

/* Can text stand for values of the column at all? @stored: they are given as the file has them:
 * integers as such, bytes as hexadecimal digits. False after a message, led by @name. */
bool parquet_readable(const struct weir_parquet_column *column, bool stored, const char *name);

/* A column's value. Return: NULL; or why the text is none, a sentence that is valid until the next
 * call. */
const char *parquet_value(const struct weir_parquet_column *column, bool stored, struct iovec text,
                          struct parquet_value *out);

#endif
