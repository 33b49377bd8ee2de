/* SPDX-License-Identifier: MIT
 * Shared by weir delta and weir apply: their options and their report. */
#ifndef WEIR_TOOL_DELTA_H
#define WEIR_TOOL_DELTA_H

#include <stdbool.h>
#include <weir/delta.h>
#include "output/report.h"
#include "saving.h"

struct delta_how {
	const char *output;
	struct image_saving saving;
	uint64_t max_memory; /* of both images together */
	bool force, as_json, quiet, no_progress;
};

/* Values of long options. Each command's own begin at 256. */
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

/* Takes one of them, except help. Return: false if it is wrong (reported) or another option. */
bool delta_option(int option, struct delta_how *how);
/* Checks, after the options, that the output and all @n arguments have names. @missing: the message
 * behind "-o". Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int delta_named(const struct delta_how *how, const char *missing, char **arguments, int n);
/* Return: the most bytes of bits that each of the two images may have. */
uint64_t delta_most_bytes(const struct delta_how *how);

/* Reports the head of a delta. */
void delta_report(struct report *r, const struct weir_delta_info *info);
/* Prints the report, unless --quiet, and frees it. */
void delta_put(struct report *r, const struct delta_how *how);

#endif
