/* SPDX-License-Identifier: MIT
 * Image files as the subcommands open and save them. */
#ifndef WEIR_TOOL_IMAGES_H
#define WEIR_TOOL_IMAGES_H

#include <stdbool.h>
#include <weir/weir.h>

/* How an image is opened. */
struct image_how {
	bool check;          /* compare the checksums first; what is read into memory always is */
	bool progress;       /* draw a line meanwhile */
	uint64_t max_memory; /* --max-memory, for what is read into memory */
	const void *hash_key; /* --keyed-by, or NULL */
};

/* --max-memory where it is not given. */
uint64_t image_max_memory(void);

/* Map an image read-only; read one that cannot be mapped (compressed, or a pipe) into memory.
 * Return: 0, or a negative errno after a message. */
int image_open(struct weir_filter **out, const char *path, const struct image_how *how);
/* Read any image into memory of its own. Return: likewise. */
int image_load(struct weir_filter **out, const char *path, const struct image_how *how);
/* As weir_image_stats(), or _exact: of a plain image no bits are compared with their checksums.
 * Return: likewise. */
int image_stats(const char *path, bool exact, const struct image_how *how, struct weir_stats *out);
/* Check every byte of an image, and its key if one is given, without a word. Return: 0 or a
 * negative errno. */
int image_verify(const char *path, const struct image_how *how);
/* What was wrong with an image, in a sentence that does not begin with its path. */
const char *image_trouble(int err, const char *path);

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
