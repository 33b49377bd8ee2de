/* SPDX-License-Identifier: MIT
 * Opens, reports and builds images of windows and routers. */
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

/* Loads the image of a window. @forget_older: as run.forget_older in struct weir_load_options.
 * Return: 0, or a negative errno after a message. */
int window_load(struct weir_filter **out, const char *path, const struct image_how *how,
                bool forget_older);
/* Measures a window, as a whole and per generation. Measures a keyed window even without its secret
 * key. Return: 0, or a negative errno after a message. */
int window_stats(const char *path, const struct image_how *how, struct weir_stats *whole,
                 struct weir_window_stats *out);
void window_report(struct report *r, const struct weir_stats *whole,
                   const struct weir_window_stats *stats);

/* ---- routers ---- */

struct route_build {
	/* if the capacity is 0, it becomes the number of lines of the longest file */
	struct weir_params params;
	struct lines_options from;
	const char *output;
	struct image_saving saving;
	struct guard guard;
	bool quiet, as_json, force; /* force: replace any file */
};

/* Builds a router. @arguments: each is NAME=FILE, or a FILE whose path is also the set's name.
 * Return: the exit status. */
int route_build(struct route_build *b, char **arguments, size_t n);

/* Loads the image of a router. @keyless: load a keyed router without its key, so that it answers no
 * lookups. Return: 0, or a negative errno after a message. */
int route_load(struct weir_filter **out, const char *path, bool keyless,
               const struct image_how *how);
/* Measures each set, and the router as if it were one filter with the keys of all sets. Return: 0,
 * or a negative errno after a message. */
int route_measure(const struct weir_filter *f, struct weir_router_stats *sets,
                  struct weir_stats *whole);
/* Adds the figures of each set to the report. Return: 0, or a negative errno after a message. */
int route_report(struct report *report, const struct weir_filter *f);

/* Runs weir plan --sets. @keys: one number for all sets, or a number for each set, separated by
 * commas; NULL: not given. Return: the exit status. */
int route_plan(struct weir_params *params, const char *keys, bool as_json);

#endif
