/* SPDX-License-Identifier: MIT
 * Lines selected by a filter or a window, in the order of the input. */
#ifndef WEIR_TOOL_SIFT_H
#define WEIR_TOOL_SIFT_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>
#include <weir/window.h>
#include "input/keying.h"
#include "input/lines.h"

struct sift {
	/* the options */
	struct lines_options from;
	struct keying keying;
	const struct weir_filter *filter; /* or */
	const struct weir_window *window;
	bool invert;     /* those that are not in the set */
	bool print;      /* on standard output; else they are counted */
	bool plain;      /* found: standard output is a terminal, lines are escaped */
	bool first_only; /* end the process with TOOL_OK at the first, print nothing */
	unsigned threads;
	/* the result */
	uint64_t lines, selected;
	uint64_t bad; /* lines that were passed over, in neither */
};

/* Return: false if a file could not be read, or a line is wrong and sift->keying does not pass over
 * such ones (reported); the others were. */
bool sift_lines(struct sift *sift);

#endif
