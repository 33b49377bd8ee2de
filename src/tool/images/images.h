/* SPDX-License-Identifier: MIT
 * Opens image files for the subcommands, by options that each command puts into its table. */
#ifndef WEIR_TOOL_IMAGES_H
#define WEIR_TOOL_IMAGES_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>
#include "input/lines.h"

/* How to open an image. */
struct image_how {
	bool check;          /* verify the checksums first; a load into memory always does */
	bool progress;       /* draw a progress line */
	bool only_files;     /* never open a pipe, which may block */
	bool wordless;       /* no message after a failure: image_trouble() returns it */
	uint64_t max_memory; /* --max-memory, for a load into memory */
	const void *secret; /* --keyed-by, or NULL */
	const char *lock_dir; /* --lock-dir, or NULL; for changes in place */
};

/* The default of --max-memory. */
uint64_t image_max_memory(void);

/* Does the path name an image? "-" does not: image_unnamed() then prints which path does, and
 * returns TOOL_TROUBLE. @streams: the command also reads an image from a pipe. */
bool image_named(const char *path);
int image_unnamed(const char *path, bool streams);
/* Is the path a regular file, a folder or missing? Only looks: to open a pipe and leave would take
 * the image from its writer. Return: false after a message. */
bool image_regular(const char *path);

/* Are the arguments swapped: is @image a file but not an image, and one of @others an image?
 * Return: TOOL_TROUBLE after a message if so, else TOOL_OK. */
int image_swapped(const char *image, char **others, size_t n);

/* Maps an image read-only; reads one that cannot be mapped (compressed, or a pipe) into memory.
 * Return: 0, or a negative errno after a message. */
int image_open(struct weir_filter **out, const char *path, const struct image_how *how);
/* Reads any image into private memory. Return: the same. */
int image_load(struct weir_filter **out, const char *path, const struct image_how *how);
/* The same, from a descriptor of the file @path. */
int image_load_fd(struct weir_filter **out, int fd, const char *path, const struct image_how *how);
/* Is it a regular file with the image of a window? */
bool window_file(const char *path);
/* weir_image_measure() by the options of @how. @info: from weir_image_inspect(). */
int image_stats(const char *path, const struct weir_image_info *info, bool exact,
                const struct image_how *how, struct weir_stats *out);
/* Ends the read of a window or a router: ends its progress line and reports @err. Return: @err. */
int image_read_ended(int err, const char *path, const struct image_how *how);
/* Verifies every byte of an image, and its key if one is given. Prints nothing. Return: 0 or a
 * negative errno. */
int image_verify(const char *path, const struct image_how *how);
/* For a SIGBUS handler: writes why a page of the image mapped last cannot be read. */
void image_lost(void);
/* Return: the fault of an image, as a message without its path. */
const char *image_trouble(int err, const char *path);

/* ---- options ---- */

enum { IMAGE_KEYED_BY = 768, IMAGE_MAX_MEMORY, IMAGE_NO_PROGRESS, IMAGE_NO_VERIFY,
       IMAGE_LOCK_DIR };

#define IMAGE_OPTIONS_LOAD \
	{ "keyed-by", required_argument, NULL, IMAGE_KEYED_BY }, \
	{ "max-memory", required_argument, NULL, IMAGE_MAX_MEMORY }, \
	{ "no-progress", no_argument, NULL, IMAGE_NO_PROGRESS }
/* For an image that need not be verified first. */
#define IMAGE_OPTIONS_OPEN \
	IMAGE_OPTIONS_LOAD, \
	{ "no-verify", no_argument, NULL, IMAGE_NO_VERIFY }
/* For an image that is changed in place. */
#define IMAGE_OPTION_LIVE { "lock-dir", required_argument, NULL, IMAGE_LOCK_DIR }
#define IMAGE_HELP_LIVE \
	"      --lock-dir=DIR   folder of a live image's lock file, the same one for all\n" \
	"                       processes; default: that of the image\n"

/* The defaults. */
struct image_how image_how(void);
/* Return: 1 taken, 0 wrong (reported), -1 not such an option. */
int image_option(int option, struct image_how *how);

/* Takes the arguments from optind on: the image (with @streams also a pipe) and the files.
 * Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int image_arguments(int argc, char **argv, bool streams, const char **image,
                    struct lines_options *from);

/* ---- images that are changed in place ---- */

/* Maps an image for inserts in place, live or not. The image is live from then on. Return: 0, or a
 * negative errno after a message. */
int live_open(struct weir_filter **out, const char *path, const struct image_how *how);

/* Seals a live image. @lost: as for place_stands().
 * Return: 0; or, after a message, -EBUSY another process has mapped it live and must seal it;
 *   -ESTALE its file has lost its name; or another negative errno. */
int live_seal(struct weir_filter *f, const char *path, const char *lost);
/* The exit status for a result of live_seal(). */
int live_status(int err);

/* ---- the union of filters whose sizes may differ by a power of two: folds the larger ---- */

/* Merges @next into @sum. If @sum is the larger, a folded copy replaces it. @max_memory: limit of
 * a folded copy. @folded: set if one filter was folded. Return: TOOL_OK, or another status:
 * unite_trouble() then returns the message. */
int unite(struct weir_filter **sum, const struct weir_filter *next, uint64_t max_memory,
          bool *folded);
const char *unite_trouble(void);
/* Did unite() fail because the two were built differently? weir build --like is the remedy. */
bool unite_unlike(void);

#endif
