/* SPDX-License-Identifier: MIT
 * Saves an image, after a check of the place: a slip must not destroy the file that is there. */
#ifndef WEIR_TOOL_SAVING_H
#define WEIR_TOOL_SAVING_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>
#include "images.h"
#include "input/lines.h"
#include "output/report.h"

/* ---- the place ---- */

/* How to save; see struct weir_save_options. */
struct image_saving {
	int zstd_level; /* 0: plain */
	uint32_t mode, marks;
	uint64_t generation;
	uint64_t replaces; /* commit record of the image seen by place_ask(), or read for a
	                      change; WEIR_REPLACES_NOTHING; 0: any image */
};

/* Can a file be made at @path, and may it? A command asks before an hour of work, not after. "-" is
 * standard output. Unless @force, refuses a file that is neither empty nor a weir image, a live
 * image, and an image that differs from the one at the last look, since a process may have inserted
 * keys. A damaged head is an error. @saving: keeps that look; NULL: no look.
 * Return: TOOL_OK, TOOL_NO or TOOL_TROUBLE, the latter two after a message. */
int place_ask(const char *path, bool force, struct image_saving *saving);

/* The same for a delta: it refuses a file that is neither empty nor a delta. */
int place_ask_delta(const char *path, bool force);

/* The traits of the image that is to be saved. */
struct place_fresh {
	uint32_t kind, steps; /* steps: of normalisation */
	uint64_t key; /* the fingerprint of the hash key; 0: not keyed */
	uint32_t sets; /* of a router; 0: another kind */
	const char *names[WEIR_ROUTER_SETS]; /* live as long as the filter */
};

/* Gets the traits of a filter. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int place_fresh_of(struct place_fresh *out, const struct weir_filter *f);

/* Does the new image keep the kind, the key, the steps and, of a router, the sets of an image at
 * @path? If not, refuses it unless @force. @how: to read a router.
 * Return: TOOL_OK; TOOL_NO after a message that names the loss; TOOL_TROUBLE after a message, if
 * the image cannot be read. */
int place_keeps(const char *path, const struct place_fresh *fresh, bool force,
                const struct image_how *how);

/* The kind alone, and the key alone, before a build reads keys. Return: TOOL_OK, or TOOL_NO after a
 * message. */
int place_keeps_kind(const char *path, uint32_t kind, bool force);
int place_keeps_key(const char *path, uint64_t key, bool force);
/* Return: the fingerprint of a hash key; 0 for NULL. */
uint64_t place_key(const void *secret);

/* "without --cidr", "with --trim, not with --trim --cidr". */
enum { PLACE_STEPS = 2 * NORMAL_STEPS + 32 };
const char *place_steps(char text[PLACE_STEPS], uint32_t before, uint32_t now);
#define STEPS_REFUSED "servers that follow it would refuse keys prepared otherwise"

/* Refuses @path if it is one of the files that are read, under any name or link. Return: TOOL_OK,
 * or TOOL_NO after a message. */
int place_is_not_read(const char *path, const struct lines_options *from);

/* Verifies the checksums of an image at @path. Skips one that is much larger than @bytes, the bits
 * of the image that replaces it, so that the check costs no more than the build did. Return:
 * TOOL_OK, or TOOL_TROUBLE after a message. */
int place_is_whole(const char *path, uint64_t bytes, const struct image_how *how);

/* Is @path one of the images that are read, under any name or link? */
bool place_is_one_of(const char *path, char **names, size_t n);

/* Waits for the turn to change the image. Without turns, the second of two processes would undo the
 * changes of the first. Processes that add in place (@shared) need not wait for each other. Any
 * process that may read the image may lock it, so a wait of over a second is reported. Return: a
 * descriptor for the caller to close, or -1 if the image cannot be opened. */
int place_turn(const char *path, bool shared);

/* Is the image of the turn (-1: none) still at @path? weir build replaces an image without a turn.
 * @lost: the end of a message, after "what was to be".
 * Return: TOOL_OK, or TOOL_NO after a message. */
int place_stands(const char *path, int turn, const char *lost);

/* ---- saving ---- */

/* Return: bytes, or a negative errno. */
typedef int64_t saving_fn(const void *what, struct weir_location to,
                          const struct weir_save_options *options);
/* Saves with a progress line. After a signal it leaves nothing behind, and then the signal ends the
 * process. Return: 0, or a negative errno without a message. */
int saving_try(saving_fn *save, const void *what, const char *path,
               const struct image_saving *how);
/* Does @err mean that another process has inserted into the image there? The library's message says
 * whether the new image is in place. */
bool saving_refused(int err);
/* Saves a changed filter over the image that it was read from; how->replaces is the commit record
 * of that image. Return: TOOL_OK; TOOL_NO after a message, if saving_refused(); or TOOL_TROUBLE
 * after a message. */
int image_save(const struct weir_filter *f, const char *path, const struct image_saving *how);
/* Saves something not derived from the image there: calls place_ask(), then saving_try(). Retries
 * if that image was removed or emptied in between. Return: as place_ask(); @err receives the result
 * of saving_try(). */
int saving_anew(saving_fn *save, const void *what, const char *path, bool force,
                struct image_saving *how, int *err);
/* The same for a filter. Return: as image_save(). */
int image_save_anew(const struct weir_filter *f, const char *path, bool force,
                    struct image_saving *how);

/* --zstd[=LEVEL]: @text NULL is level 3. --mode=OCTAL. */
bool parse_zstd(const char *text, int *level);
bool parse_mode(const char *text, uint32_t *mode);

#endif
