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

/* Read one. Return: 0, or a negative errno after a message. */
int window_load(struct weir_filter **out, const char *path, const struct image_how *how,
                bool forget_older);
/* What one holds, in all and in each generation, of which no key is asked. Return: likewise. */
int window_stats(const char *path, const struct image_how *how, struct weir_stats *whole,
                 struct weir_window_stats *out);
void window_report(struct report *r, const struct weir_stats *whole,
                   const struct weir_window_stats *stats);

/* ---- routers ---- */

struct route_build {
	struct weir_params params; /* capacity 0: as many as the longest file has lines */
	struct lines_options from;
	const char *output;
	struct image_saving saving;
	struct guard guard; /* allow_empty, allow_shrink */
	bool quiet, as_json, force; /* force: replace any file */
};

/* @arguments: NAME=FILE each. Return: the exit status. */
int route_build(struct route_build *b, char **arguments, size_t n);

/* Read an image. @keyless: of a keyed one no key is asked, and no lookup answered. Return: 0, or a
 * negative errno after a message. */
int route_load(struct weir_filter **out, const char *path, bool keyless,
               const struct image_how *how);
/* Its figures: of each set, and as those of a filter that holds the keys of all sets. Return:
 * likewise. */
int route_measure(const struct weir_filter *f, struct weir_router_stats *sets,
                  struct weir_stats *whole);
/* What is in each set. Return: likewise. */
int route_report(struct report *report, const struct weir_filter *f);

/* weir plan --sets. @keys: commas between numbers, as many as sets, or one; NULL: not given. */
int route_plan(struct weir_params *params, const char *keys, bool as_json);

#endif
