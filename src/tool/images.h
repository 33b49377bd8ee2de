/* SPDX-License-Identifier: MIT
 * Image files as the subcommands open and save them. Each function reports what is wrong. */
#ifndef WEIR_TOOL_IMAGES_H
#define WEIR_TOOL_IMAGES_H

#include <stdbool.h>
#include <weir/weir.h>

/* Map an image read-only; read one that cannot be mapped (compressed, or a pipe) into memory.
 * @check: compare the checksums first; a compressed image is always checked. Return: 0,
 * or a negative errno after a message. */
int image_open(struct weir_filter **out, const char *path, bool check);
/* As image_open(), without a word: weir_error_detail() has it. */
int image_try(struct weir_filter **out, const char *path, bool check);
/* Read any image into memory of its own, without a word. */
int image_load(struct weir_filter **out, const char *path);

/* Whether a file can be made there: better known before an hour of work than after. "-" is
 * standard output. */
bool image_place_ok(const char *path);

/* Save with a progress line; @zstd_level 0: plain. Interrupted by a signal it leaves nothing
 * behind, then ends as that signal ends a process. Return: TOOL_OK, or TOOL_TROUBLE after a
 * message. */
int image_save(const struct weir_filter *f, const char *path, int zstd_level);

/* --zstd[=LEVEL]: @text NULL is level 3. */
bool parse_zstd(const char *text, int *level);

#endif
