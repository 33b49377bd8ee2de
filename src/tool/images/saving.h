/* SPDX-License-Identifier: MIT
 * Image files as the subcommands save them. */
#ifndef WEIR_TOOL_SAVING_H
#define WEIR_TOOL_SAVING_H

#include <stdbool.h>
#include <weir/weir.h>

/* How to save: struct weir_save_options. */
struct image_saving {
	int zstd_level; /* 0: plain */
	uint32_t mode, marks;
	uint64_t generation;
};

/* @path: NULL: standard output. */
typedef int saving_fn(const void *what, const char *path, const struct weir_save_options *options);
/* Save with a progress line. Interrupted by a signal it leaves nothing behind, then ends as that
 * signal ends a process. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int saving_run(saving_fn *save, const void *what, const char *path,
               const struct image_saving *how);
/* The same without the message. Return: 0 or a negative errno. */
int saving_try(saving_fn *save, const void *what, const char *path,
               const struct image_saving *how);
int image_save(const struct weir_filter *f, const char *path, const struct image_saving *how);

/* --zstd[=LEVEL]: @text NULL is level 3. --mode=OCTAL. */
bool parse_zstd(const char *text, int *level);
bool parse_mode(const char *text, uint32_t *mode);

#endif
