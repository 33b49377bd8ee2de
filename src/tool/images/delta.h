/* SPDX-License-Identifier: MIT
 * Shared by weir delta and weir apply: the options and the report of a delta. */
#ifndef WEIR_TOOL_DELTA_H
#define WEIR_TOOL_DELTA_H

#include <stdbool.h>
#include <weir/delta.h>
#include "output/report.h"
#include "saving.h"

struct delta_how {
	const char *output;
	struct image_saving saving;
	uint64_t max_memory; /* limit on the memory of both images together, in bytes */
	bool force, as_json, quiet, no_progress;
};

/* Values of long options. They are larger than the values of each command's own options, which
 * begin at 256. */
enum { DELTA_JSON = 1024, DELTA_MAX_MEMORY, DELTA_NO_PROGRESS, DELTA_MODE, DELTA_FORCE };

#define DELTA_OPTIONS \
	{ "output", required_argument, NULL, 'o' }, \
	{ "max-memory", required_argument, NULL, DELTA_MAX_MEMORY }, \
	{ "mode", required_argument, NULL, DELTA_MODE }, \
	{ "force", no_argument, NULL, DELTA_FORCE }, \
	{ "json", no_argument, NULL, DELTA_JSON }, \
	{ "no-progress", no_argument, NULL, DELTA_NO_PROGRESS }, \
	{ "quiet", no_argument, NULL, 'q' }, \
	{ "help", no_argument, NULL, 'h' }

/* Applies an option of DELTA_OPTIONS except --help. Return: false after a message about a wrong
 * value, or without a message if @option is unknown. */
bool delta_option(int option, struct delta_how *how);
/* Checks, after the options, that the output and all @n arguments have names. @missing: if the
 * output has no name, the message is "-o" and then this text. Return: TOOL_OK, or TOOL_TROUBLE
 * after a message. */
int delta_named(const struct delta_how *how, const char *missing, char **arguments, int n);
/* Return: the limit on the memory of each of the two images in bytes, half of how->max_memory. */
uint64_t delta_most_bytes(const struct delta_how *how);

/* Adds the figures of a delta's head to the report. */
void delta_report(struct report *r, const struct weir_delta_info *info);
/* Prints the report, unless --quiet, and frees it. */
void delta_put(struct report *r, const struct delta_how *how);

#endif
