/* SPDX-License-Identifier: MIT
 * From text to the values of a Parquet column. */
#ifndef WEIR_TOOL_PARQUET_VALUE_H
#define WEIR_TOOL_PARQUET_VALUE_H

#include <stdbool.h>
#include <sys/uio.h>
#include <weir/parquet.h>

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
