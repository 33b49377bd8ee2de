/* SPDX-License-Identifier: MIT
 * A column of a Parquet file, which the command line names as FILE:COLUMN: the filters of the
 * column, and its values as text. */
#ifndef WEIR_TOOL_PARQUET_H
#define WEIR_TOOL_PARQUET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include <weir/parquet.h>

/* A row group and its filter of the column. */
struct parquet_group {
	struct weir_filter *filter; /* NULL: without a filter, any value may be in the row group */
	uint64_t rows;
};

struct parquet_column {
	const char *name; /* path of the column, points into the argument */
	struct weir_parquet_column is;
	struct parquet_group *groups;
	/* @n: number of row groups; @lacking: number of row groups without a filter */
	uint32_t n, lacking;
};

/* Return: true if the argument names a Parquet file, with or without a column. An argument that is
 * an existing file of another format does not count. */
bool parquet_named(const char *argument);

/* Opens a file. @max_memory: limit in bytes on the memory for the footer, and also on the memory
 * for each filter. Return: NULL after a message. */
struct weir_parquet *parquet_open(const char *path, uint64_t max_memory);
/* Reports a failed call. @err: the call's negative errno. Return: TOOL_TROUBLE. */
int parquet_trouble(int err, const char *path, uint64_t max_memory);
/* Return: a column's path, which the caller frees. */
char *parquet_path(const struct weir_parquet *file, uint32_t column);

/* Reads the filters of FILE:COLUMN. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int parquet_load(struct parquet_column *out, const char *argument, uint64_t max_memory);
void parquet_free(struct parquet_column *column);

/* ---- from text to values ---- */

/* The hashes of the values that a text may mean. In a floating-point column, a zero means 0.0 and
 * -0.0. */
struct parquet_value {
	uint64_t hash[2];
	unsigned n;
};

/* Checks that weir can read text as values of the column. @stored: the user gives values as the
 * file stores them, integers as integers and bytes as hexadecimal digits. @name: begins the
 * message. Return: false after a message. */
bool parquet_readable(const struct weir_parquet_column *column, bool stored, const char *name);

/* Reads text as a value of the column. Return: the fault of the text, valid until the next call, or
 * NULL. */
const char *parquet_value(const struct weir_parquet_column *column, bool stored, struct iovec text,
                          struct parquet_value *out);

#endif
