/* SPDX-License-Identifier: MIT
 * Image files as the subcommands open and save them. Each function reports what is wrong. */
#ifndef WEIR_TOOL_IMAGES_H
#define WEIR_TOOL_IMAGES_H

#include <stdbool.h>
#include <weir/weir.h>

/* Map an image read-only; read one that cannot be mapped (compressed, or a pipe) into memory.
 * @check: compare the checksums first; a compressed image is always checked. @hash_key: of
 * --keyed-by, or NULL. Return: 0, or a negative errno after a message. */
int image_open(struct weir_filter **out, const char *path, bool check, const void *hash_key);
/* Read any image into memory of its own; messages likewise. */
int image_load(struct weir_filter **out, const char *path, const void *hash_key);
/* Check every byte of an image, without a word: weir_error_detail() has it. Where @hash_key is
 * NULL none is needed, but for a keyed image that comes through a pipe. */
int image_check(const char *path, const void *hash_key);

/* Whether a file can be made there: better known before an hour of work than after. "-" is
 * standard output. */
bool image_place_ok(const char *path);

/* How to save: struct weir_save_options. */
struct image_saving {
	int zstd_level; /* 0: plain */
	uint32_t mode, marks;
};

/* Save with a progress line. Interrupted by a signal it leaves nothing behind, then ends as that
 * signal ends a process. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int image_save(const struct weir_filter *f, const char *path, const struct image_saving *how);

/* --zstd[=LEVEL]: @text NULL is level 3. --mode=OCTAL. */
bool parse_zstd(const char *text, int *level);
bool parse_mode(const char *text, uint32_t *mode);

#endif
