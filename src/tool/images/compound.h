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

/* Reads a window. Return: 0, or a negative errno after a message. */
int window_load(struct weir_filter **out, const char *path, const struct image_how *how,
                bool forget_older);
/* Measures a window, as a whole and per generation. A keyed one needs no key. Return: the same. */
int window_stats(const char *path, const struct image_how *how, struct weir_stats *whole,
                 struct weir_window_stats *out);
void window_report(struct report *r, const struct weir_stats *whole,
                   const struct weir_window_stats *stats);

/* ---- routers ---- */

struct route_build {
	struct weir_params params; /* capacity 0: the number of lines of the longest file */
	struct lines_options from;
	const char *output;
	struct image_saving saving;
	struct guard guard; /* allow_empty, allow_shrink */
	bool quiet, as_json, force; /* force: replace any file */
};

/* Builds a router. @arguments: NAME=FILE each. Return: the exit status. */
int route_build(struct route_build *b, char **arguments, size_t n);

/* Reads a router. @keyless: a keyed one needs no key, but then answers no lookups. Return: 0, or a
 * negative errno after a message. */
int route_load(struct weir_filter **out, const char *path, bool keyless,
               const struct image_how *how);
/* Measures each set, and the whole like a filter that holds the keys of all sets. Return: the
 * same. */
int route_measure(const struct weir_filter *f, struct weir_router_stats *sets,
                  struct weir_stats *whole);
/* Reports each set. Return: the same. */
int route_report(struct report *report, const struct weir_filter *f);

/* weir plan --sets. @keys: a number for all sets, or one for each, with commas; NULL: not given. */
int route_plan(struct weir_params *params, const char *keys, bool as_json);

#endif
