/* SPDX-License-Identifier: MIT
 * A column of a Parquet file as the command line names it, FILE:COLUMN, and its filters. */
#ifndef WEIR_TOOL_PARQUET_COLUMN_H
#define WEIR_TOOL_PARQUET_COLUMN_H

#include <stdbool.h>
#include <stdint.h>
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

#endif
