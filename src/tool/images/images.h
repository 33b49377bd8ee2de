/* SPDX-License-Identifier: MIT
 * Opens image files for the subcommands, and declares the options for opening, which each command
 * adds to its table. */
#ifndef WEIR_TOOL_IMAGES_H
#define WEIR_TOOL_IMAGES_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>
#include "input/lines.h"

/* How to open an image. */
struct image_how {
	bool check;          /* verify the checksums before a map; a load always verifies them */
	bool progress;       /* draw a progress line */
	bool only_files;     /* never open a pipe, which may block */
	/* print no message after a failure; image_trouble() returns the message */
	bool wordless;
	uint64_t max_memory; /* --max-memory, for a load into memory */
	const void *secret; /* --keyed-by, or NULL */
	const char *lock_dir; /* --lock-dir, or NULL; used for changes in place */
};

/* Return: the default of --max-memory, in bytes. */
uint64_t image_max_memory(void);

/* image_named() returns false for "-", which names no image. image_unnamed() then prints how to
 * name standard input, and returns TOOL_TROUBLE. @streams: the command can read an image from a
 * pipe. */
bool image_named(const char *path);
int image_unnamed(const char *path, bool streams);
/* Checks that the path is a regular file, a folder or missing. Does not open the path, since a pipe
 * that is opened and closed loses the image that its writer sends. Return: false after a
 * message. */
bool image_regular(const char *path);

/* Checks for swapped arguments: @image is a file but not an image, and one of @others is an image.
 * Return: TOOL_TROUBLE after a message if the arguments are swapped, else TOOL_OK. */
int image_swapped(const char *image, char **others, size_t n);

/* Maps an image read-only. Loads a compressed image or a pipe into memory, since neither can be
 * mapped. Return: 0, or a negative errno after a message. */
int image_open(struct weir_filter **out, const char *path, const struct image_how *how);
/* Loads any image into private memory. Return: 0, or a negative errno after a message. */
int image_load(struct weir_filter **out, const char *path, const struct image_how *how);
/* Loads an image from a descriptor of the file @path. Return: 0, or a negative errno after a
 * message. */
int image_load_fd(struct weir_filter **out, int fd, const char *path, const struct image_how *how);
/* Return: true if the path is a regular file with the image of a window. */
bool window_file(const char *path);
/* Calls weir_image_measure() with the options of @how. @info: from weir_image_inspect(). Return: 0,
 * or a negative errno after a message. */
int image_stats(const char *path, const struct weir_image_info *info, bool exact,
                const struct image_how *how, struct weir_stats *out);
/* Ends the progress line of reading a window or a router, and reports @err. Return: @err. */
int image_read_ended(int err, const char *path, const struct image_how *how);
/* Verifies every byte of an image, and the key if how->secret is set. Return: 0, or a negative
 * errno without a message. */
int image_verify(const char *path, const struct image_how *how);
/* Writes to stderr why weir could not read a page of the image mapped last. A SIGBUS handler may
 * call this function. */
void image_lost(void);
/* Return: the message for a failed call on an image, without the path. @err: the call's negative
 * errno. */
const char *image_trouble(int err, const char *path);

/* ---- options ---- */

enum { IMAGE_KEYED_BY = 768, IMAGE_MAX_MEMORY, IMAGE_NO_PROGRESS, IMAGE_NO_VERIFY,
       IMAGE_LOCK_DIR };

#define IMAGE_OPTIONS_LOAD \
	{ "keyed-by", required_argument, NULL, IMAGE_KEYED_BY }, \
	{ "max-memory", required_argument, NULL, IMAGE_MAX_MEMORY }, \
	{ "no-progress", no_argument, NULL, IMAGE_NO_PROGRESS }
/* For commands that can skip the verification. */
#define IMAGE_OPTIONS_OPEN \
	IMAGE_OPTIONS_LOAD, \
	{ "no-verify", no_argument, NULL, IMAGE_NO_VERIFY }
/* For commands that change an image in place. */
#define IMAGE_OPTION_LIVE { "lock-dir", required_argument, NULL, IMAGE_LOCK_DIR }
#define IMAGE_HELP_LIVE \
	"      --lock-dir=DIR   folder of a live image's lock file, the same one for all\n" \
	"                       processes; default: that of the image\n"

/* Return: the default options. */
struct image_how image_how(void);
/* Applies an option of the tables above. Return: 1 if applied, 0 after a message about a wrong
 * value, -1 if @option is unknown. */
int image_option(int option, struct image_how *how);

/* Takes the arguments from optind on: the image, then files of keys. @streams: the image may be a
 * pipe. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int image_arguments(int argc, char **argv, bool streams, const char **image,
                    struct lines_options *from);

/* ---- images that are changed in place ---- */

/* Maps an image for inserts in place, and makes it live unless it is live already. Return: 0, or a
 * negative errno after a message. */
int live_open(struct weir_filter **out, const char *path, const struct image_how *how);

/* Seals a live image. @lost: as for place_check_unchanged(). Return: 0, or a negative errno after a
 * message. -EBUSY: another process has mapped the image live and must seal it. -ESTALE: the file at
 * @path was replaced or removed. */
int live_seal(struct weir_filter *f, const char *path, const char *lost);
/* Return: the exit status for a result of live_seal(). */
int live_status(int err);

/* ---- merge filters whose sizes may differ by a power of two, by folding the larger ---- */

/* Merges @next into @sum. If @sum is larger than @next, a folded copy replaces @sum. @max_memory:
 * limit on the bytes of a folded copy. @folded: set to true if a filter was folded. Return:
 * TOOL_OK, or another status, for which unite_trouble() returns the message. */
int unite(struct weir_filter **sum, const struct weir_filter *next, uint64_t max_memory,
          bool *folded);
const char *unite_trouble(void);
/* Return: true if unite() failed because the two filters were built differently. weir build --like
 * makes filters that can be merged. */
bool unite_unlike(void);

#endif
