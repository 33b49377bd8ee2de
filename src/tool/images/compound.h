/* SPDX-License-Identifier: MIT
 * Images of windows and routers, as the subcommands open, show and build them. */
#ifndef WEIR_TOOL_COMPOUND_H
#define WEIR_TOOL_COMPOUND_H

#include <weir/router.h>
#include <weir/window.h>
#include "guard.h"
#include "images.h"
#include "input/lines.h"
#include "output/report.h"
#include "saving.h"

/* ---- windows ---- */

/* Is it a regular file with the image of a window? */
bool window_file(const char *path);
/* Read one. Return: 0, or a negative errno after a message. */
int window_load(struct weir_window **out, const char *path, const struct image_how *how,
                bool forget_older);
/* What one holds, of which no key is asked. Return: likewise. */
int window_stats(const char *path, const struct image_how *how, struct weir_window_stats *out);
void window_report(struct report *r, const struct weir_window_stats *stats);
/* As far as the statistics of a filter have the same. */
struct weir_stats window_as_filter(const struct weir_window_stats *stats);

/* ---- routers ---- */

struct route_build {
	struct weir_router_options options; /* capacity 0: as many as the longest file has lines */
	struct lines_options from;
	const char *output;
	struct image_saving saving;
	struct guard guard; /* allow_empty */
	bool quiet, as_json, force; /* force: replace any file */
};

/* @arguments: NAME=FILE each. Return: the exit status. */
int route_build(struct route_build *b, char **arguments, size_t n);

/* What is in each set. */
void route_report(struct report *report, const struct weir_router_stats *stats);

/* Read an image. Return: 0, or a negative errno after a message. */
int route_load(struct weir_router **out, const char *path, const struct image_how *how);

/* Its figures, without a lookup. Return: 0, or a negative errno after a message. */
int route_stats(struct weir_router_stats *out, const char *path, const struct image_how *how);

/* As far as the statistics of a filter have the same: the rate is that of the worst set. */
struct weir_stats router_as_filter(const struct weir_router_stats *stats);

/* weir plan --sets. @keys: commas between numbers, as many as sets, or one; NULL: not given. */
int route_plan(struct weir_router_options *options, const char *keys, bool as_json);

#endif
