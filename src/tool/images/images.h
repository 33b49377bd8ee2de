/* SPDX-License-Identifier: MIT
 * Image files as the subcommands open them. */
#ifndef WEIR_TOOL_IMAGES_H
#define WEIR_TOOL_IMAGES_H

#include <stdbool.h>
#include <weir/weir.h>

/* How an image is opened. */
struct image_how {
	bool check;          /* compare the checksums first; what is read into memory always is */
	bool progress;       /* draw a line meanwhile */
	bool only_files;     /* not opened as a pipe, which may keep one waiting */
	bool wordless;       /* no message after a failure: image_trouble() has the sentence */
	uint64_t max_memory; /* --max-memory, for what is read into memory */
	const void *hash_key; /* --keyed-by, or NULL */
};

/* --max-memory where it is not given. */
uint64_t image_max_memory(void);

/* Does the path name an image? "-" names none; a sentence says what does, and TOOL_TROUBLE is
 * returned. */
bool image_named(const char *path);
int image_unnamed(const char *path);

/* Is @image a file that is none, and one of the others an image? Return: TOOL_TROUBLE after a
 * message, else TOOL_OK. */
int image_swapped(const char *image, char **others, size_t n);

/* Map an image read-only; read one that cannot be mapped (compressed, or a pipe) into memory.
 * Return: 0, or a negative errno after a message. */
int image_open(struct weir_filter **out, const char *path, const struct image_how *how);
/* Read any image into memory of its own. Return: likewise. */
int image_load(struct weir_filter **out, const char *path, const struct image_how *how);
/* Likewise from a descriptor, of the file @path. */
int image_load_fd(struct weir_filter **out, int fd, const char *path, const struct image_how *how);
/* As weir_image_stats(), or _exact. @info: what weir_image_info() found. Return: likewise. */
int image_stats(const char *path, const struct weir_image_info *info, bool exact,
                const struct image_how *how, struct weir_stats *out);
/* What is no filter was read, which progress_begin() began: what settles it. Return: @err, after a
 * message if it is one. */
int image_read_ended(int err, const char *path, const struct image_how *how);
/* Check every byte of an image, and its key if one is given, without a word. Return: 0 or a
 * negative errno. */
int image_verify(const char *path, const struct image_how *how);
/* What to write if the image that was mapped last shrinks: ready, for a handler of SIGBUS. */
extern char image_shrank[4600];
/* What was wrong with an image, in a sentence that does not begin with its path. */
const char *image_trouble(int err, const char *path);

#endif
