/* SPDX-License-Identifier: MIT
 * Parts of weir query: the first selects lines by a filter, in the order of the input. The second
 * finds the row groups of a Parquet file that may hold a value of a column. */
#ifndef WEIR_TOOL_QUERY_H
#define WEIR_TOOL_QUERY_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>
#include "input/keying.h"
#include "input/lines.h"

/* ---- filters ---- */

struct sift {
	/* the options */
	struct lines_options from;
	struct keying keying;
	enum keying_what what;
	const struct weir_filter *filter;
	bool invert;     /* select lines that are not in the set */
	bool print;      /* print lines on standard output; else only count them */
	bool plain;      /* set by sift_lines(): escape lines, since a terminal gets them */
	bool first_only; /* end the process with TOOL_OK at the first line, print nothing */
	unsigned threads;
	/* the result */
	uint64_t lines, selected;
	uint64_t bad; /* lines that were skipped, in neither */
};

/* Return: false after a message, if a file is unreadable, or a line is wrong and sift->keying does
 * not skip it. The other lines are looked up even then. */
bool sift_lines(struct sift *sift);

/* ---- Parquet files ---- */

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
