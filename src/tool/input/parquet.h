/* SPDX-License-Identifier: MIT
 * A column of a Parquet file, which the command line names as FILE:COLUMN: its filters, and its
 * values as text. */
#ifndef WEIR_TOOL_PARQUET_H
#define WEIR_TOOL_PARQUET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include <weir/parquet.h>

/* A row group's filter of the column. */
struct parquet_group {
	struct weir_filter *filter; /* NULL: the row group may hold any value */
	uint64_t rows;
};

struct parquet_column {
	const char *name; /* its path, a part of the argument */
	struct weir_parquet_column is;
	struct parquet_group *groups;
	uint32_t n, lacking; /* row groups, and those without a filter */
};

/* Does the argument name a Parquet file, with or without a column? An existing image does not. */
bool parquet_named(const char *argument);

/* Opens a file. @max_memory: for its footer, and for one filter. Return: NULL after a message. */
struct weir_parquet *parquet_open(const char *path, uint64_t max_memory);
/* Reports a call that failed with @err. Return: TOOL_TROUBLE. */
int parquet_trouble(int err, const char *path, uint64_t max_memory);
/* Return: a column's path, for the caller to free. */
char *parquet_path(const struct weir_parquet *file, uint32_t column);

/* Reads the filters of FILE:COLUMN. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int parquet_load(struct parquet_column *out, const char *argument, uint64_t max_memory);
void parquet_free(struct parquet_column *column);

/* ---- from text to values ---- */

/* The hashes of the values that a text may mean: for a zero, 0.0 and -0.0. */
struct parquet_value {
	uint64_t hash[2];
	unsigned n;
};

/* Can weir read text as values of the column? @stored: the user gives values as the file has them:
 * integers as such, bytes as hexadecimal digits. Return: false after a message that begins with
 * @name. */
bool parquet_readable(const struct weir_parquet_column *column, bool stored, const char *name);

/* Reads text as a column's value. Return: NULL, or the fault of the text, valid until the next
 * call. */
const char *parquet_value(const struct weir_parquet_column *column, bool stored, struct iovec text,
                          struct parquet_value *out);

#endif
