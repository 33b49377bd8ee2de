/* SPDX-License-Identifier: MIT
 * weir query of a Parquet file's column: which row groups may hold a value. */
#ifndef WEIR_TOOL_PARQUET_QUERY_H
#define WEIR_TOOL_PARQUET_QUERY_H

#include <stdbool.h>
#include <stdint.h>
#include "input/keying.h"
#include "input/lines.h"

struct parquet_query {
	struct lines_options from;
	struct keying keying;
	bool invert, count, first_only, as_json;
	bool stored; /* values are given as the file has them */
	uint64_t max_memory;
};

/* @argument: FILE:COLUMN. Return: an exit status. */
int parquet_query(const struct parquet_query *how, const char *argument);

#endif
