/* SPDX-License-Identifier: MIT
 * Parts of weir query. sift_lines() selects lines by a filter, in the order of the input.
 * parquet_query() finds the row groups of a Parquet file that may contain a value of a column. */
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
	bool print;      /* print lines on standard output, not only count them */
	bool plain;      /* set by sift_lines(): the output is a terminal, so lines are escaped */
	/* at the first selected line, end the process with TOOL_OK; print no lines */
	bool first_only;
	unsigned threads;
	/* the result */
	uint64_t lines, selected;
	uint64_t bad; /* number of wrong lines, which @lines and @selected do not count */
};

/* Looks up all lines. Return: false after a message, if a file is unreadable, or if a line is wrong
 * and sift->keying does not skip wrong lines. The other lines are looked up even then. */
bool sift_lines(struct sift *sift);

/* ---- Parquet files ---- */

struct parquet_query {
	struct lines_options from;
	struct keying keying;
	bool invert, count, first_only, as_json;
	bool stored; /* values are given as the file stores them */
	uint64_t max_memory;
};

/* Runs weir query for FILE:COLUMN in @argument. Return: an exit status. */
int parquet_query(const struct parquet_query *how, const char *argument);

#endif
