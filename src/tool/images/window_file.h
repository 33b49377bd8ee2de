/* SPDX-License-Identifier: MIT
 * Images of windows, as the subcommands open them and show them. */
#ifndef WEIR_TOOL_WINDOW_FILE_H
#define WEIR_TOOL_WINDOW_FILE_H

#include <weir/window.h>
#include "images.h"
#include "output/report.h"

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

#endif
