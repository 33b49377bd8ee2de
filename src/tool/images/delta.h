/* SPDX-License-Identifier: MIT
 * What weir delta and weir apply share: their options, and what is reported. */
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

/* Values of long options, apart from those that commands begin at 256. */
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

/* One of them but the help. Return: whether it is one, and right; else a sentence is printed. */
bool delta_option(int option, struct delta_how *how);
/* The options are read: whether the output and all @n arguments are named. Return: TOOL_OK, or
 * TOOL_TROUBLE after a message. */
int delta_named(const struct delta_how *how, const char *missing, char **arguments, int n);
/* The bits that each of the two images may have. */
uint64_t delta_most_bytes(const struct delta_how *how);

/* What the head of a delta says. */
void delta_report(struct report *r, const struct weir_delta_info *info);
/* Print what was made, unless that is not wanted, and free the report. */
void delta_put(struct report *r, const struct delta_how *how);

#endif
