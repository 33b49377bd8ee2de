/* SPDX-License-Identifier: MIT
 * Image files as the subcommands open them, by options that stand in the commands' tables. */
#ifndef WEIR_TOOL_IMAGES_H
#define WEIR_TOOL_IMAGES_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>
#include "input/lines.h"

/* How an image is opened. */
struct image_how {
	bool check;          /* compare the checksums first; what is read into memory always is */
	bool progress;       /* draw a line meanwhile */
	bool only_files;     /* not opened as a pipe, which may keep one waiting */
	bool wordless;       /* no message after a failure: image_trouble() has the sentence */
	uint64_t max_memory; /* --max-memory, for what is read into memory */
	const void *secret; /* --keyed-by, or NULL */
	const char *lock_dir; /* --lock-dir, or NULL; for what is changed in place */
};

/* --max-memory where it is not given. */
uint64_t image_max_memory(void);

/* Does the path name an image? "-" names none; a sentence says what does, and TOOL_TROUBLE is
 * returned. @streams: the command reads an image from a pipe too. */
bool image_named(const char *path);
int image_unnamed(const char *path, bool streams);
/* Is it no pipe, socket or device? It is not opened: a reader that leaves at once would take an
 * image from its writer. False after a message; true also where nothing stands. */
bool image_regular(const char *path);

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
/* Is it a regular file with the image of a window? */
bool window_file(const char *path);
/* As weir_image_measure(). @info: what weir_image_inspect() found. */
int image_stats(const char *path, const struct weir_image_info *info, bool exact,
                const struct image_how *how, struct weir_stats *out);
/* What is no filter was read, which progress_begin() began: what settles it. Return: @err, after a
 * message if it is one. */
int image_read_ended(int err, const char *path, const struct image_how *how);
/* Check every byte of an image, and its key if one is given, without a word. Return: 0 or a
 * negative errno. */
int image_verify(const char *path, const struct image_how *how);
/* For a handler of SIGBUS: write why a page of the image that was mapped last cannot be had. */
void image_lost(void);
/* What was wrong with an image, in a sentence that does not begin with its path. */
const char *image_trouble(int err, const char *path);

/* ---- options ---- */

enum { IMAGE_KEYED_BY = 768, IMAGE_MAX_MEMORY, IMAGE_NO_PROGRESS, IMAGE_NO_VERIFY,
       IMAGE_LOCK_DIR };

#define IMAGE_OPTIONS_LOAD \
	{ "keyed-by", required_argument, NULL, IMAGE_KEYED_BY }, \
	{ "max-memory", required_argument, NULL, IMAGE_MAX_MEMORY }, \
	{ "no-progress", no_argument, NULL, IMAGE_NO_PROGRESS }
/* Of one that need not be checked first. */
#define IMAGE_OPTIONS_OPEN \
	IMAGE_OPTIONS_LOAD, \
	{ "no-verify", no_argument, NULL, IMAGE_NO_VERIFY }
/* Of one that is changed in place. */
#define IMAGE_OPTION_LIVE { "lock-dir", required_argument, NULL, IMAGE_LOCK_DIR }
#define IMAGE_HELP_LIVE \
	"      --lock-dir=DIR   folder of a live image's lock file, the same one for all\n" \
	"                       processes; default: that of the image\n"

/* What is done without an option. */
struct image_how image_how(void);
/* Return: 1 taken, 0 wrong (reported), -1 not such an option. */
int image_option(int option, struct image_how *how);

/* The arguments from optind on: the image (@streams: or a pipe) and the files. Return: TOOL_OK, or
 * TOOL_TROUBLE after a message. */
int image_arguments(int argc, char **argv, bool streams, const char **image,
                    struct lines_options *from);

/* ---- images that are changed in place ---- */

/* Map an image for inserts in place, whether it is live or not. It is live from then on. Return: 0,
 * or a negative errno after a message. */
int live_open(struct weir_filter **out, const char *path, const struct image_how *how);

/* Seal it. @lost: as of place_stands().
 * Return: 0; after a message -EBUSY another process has it mapped live, which has to seal it then;
 *   -ESTALE its file has no name any more; or another negative errno. */
int live_seal(struct weir_filter *f, const char *path, const char *lost);
/* That as an exit status. */
int live_status(int err);

/* ---- the union of filters whose sizes may differ by a power of two: the larger is folded ---- */

/* Merge @next into @sum, which is replaced by a smaller one if it is the larger. @max_memory: for a
 * folded copy. @folded: set if one was. Return: TOOL_OK, or another: unite_trouble() has the
 * sentence. */
int unite(struct weir_filter **sum, const struct weir_filter *next, uint64_t max_memory,
          bool *folded);
const char *unite_trouble(void);
/* Did it fail because the two were built differently? weir build --like is the remedy. */
bool unite_unlike(void);

#endif
