/* SPDX-License-Identifier: MIT
 * Checks the output path, so that a slip does not destroy a file, and saves images. */
#ifndef WEIR_TOOL_SAVING_H
#define WEIR_TOOL_SAVING_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>
#include "images.h"
#include "input/lines.h"
#include "output/report.h"

/* ---- the output path ---- */

/* Options of a save, as in struct weir_save_options. */
struct image_saving {
	int zstd_level; /* 0: not compressed */
	uint32_t mode, marks;
	uint64_t generation;
	/* commit record (a checksum) of the only image that may be replaced; WEIR_REPLACES_NOTHING:
	 * no image may be replaced; 0: any image may be replaced */
	uint64_t replaces;
};

/* Checks that an image can and may be saved to @path. Commands call this before long work. "-" is
 * standard output. Without @force, refuses three kinds of file: one that is neither empty nor a
 * weir image; a live image; and an image that has changed since the previous check, because a
 * process may have inserted keys. A damaged head is an error. @saving: records the image for the
 * next check; NULL: no record. Return: TOOL_OK; TOOL_NO or TOOL_TROUBLE after a message. */
int place_check(const char *path, bool force, struct image_saving *saving);

/* Checks that a delta can and may be saved to @path. Without @force, refuses a file that is neither
 * empty nor a delta. Return: as place_check(). */
int place_check_delta(const char *path, bool force);

/* The traits of an image that is to be saved. */
struct place_fresh {
	uint32_t kind, steps; /* @steps: normalisation steps */
	uint64_t key; /* the fingerprint of the hash key; 0: not keyed */
	uint32_t sets; /* number of sets of a router; 0: another kind */
	const char *names[WEIR_ROUTER_SETS]; /* names of the sets, not copied */
};

/* Gets the traits of a filter that is to be saved. Return: TOOL_OK, or TOOL_TROUBLE after a
 * message. */
int place_fresh_of(struct place_fresh *out, const struct weir_filter *f);

/* Checks that a new image keeps the traits of an image at @path: kind, key, normalisation steps,
 * and the sets of a router. @force: accept any change. @how: to load a router. Return: TOOL_OK;
 * TOOL_NO after a message that names the loss; TOOL_TROUBLE after a message, if the image cannot be
 * read. */
int place_keeps(const char *path, const struct place_fresh *fresh, bool force,
                const struct image_how *how);

/* place_keeps_kind() checks only the kind, and place_keeps_key() checks only the key, before a
 * build reads keys. Return: TOOL_OK, or TOOL_NO after a message. */
int place_keeps_kind(const char *path, uint32_t kind, bool force);
int place_keeps_key(const char *path, uint64_t key, bool force);
/* Return: the fingerprint of a hash key, or 0 if @secret is NULL. */
uint64_t place_key(const void *secret);

/* Writes the end of a message "the image was built ...". @before: steps of that image. @now: steps
 * of the new image. The end is "without --cidr" if @before has no steps, "with --trim" if @now has
 * no steps, and otherwise names both, such as "with --trim, not with --trim --cidr". */
enum { PLACE_STEPS = 2 * NORMAL_STEPS + 32 };
const char *place_steps(char text[PLACE_STEPS], uint32_t before, uint32_t now);
#define STEPS_REFUSED "servers that follow it would refuse keys prepared otherwise"

/* Refuses @path if keys are read from that file, under any name or link. Return: TOOL_OK, or
 * TOOL_NO after a message. */
int place_is_not_read(const char *path, const struct lines_options *from);

/* Verifies the checksums of an image at @path. @bytes: size of the image that replaces it. An image
 * that is more than 1 MiB larger than twice @bytes is not verified, since its check could take
 * longer than the build. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int place_is_whole(const char *path, uint64_t bytes, const struct image_how *how);

/* Return: true if @path is one of the files @names, under any name or link. */
bool place_is_one_of(const char *path, char **names, size_t n);

/* Locks the image that is to be changed. Without the lock, the second of two processes would undo
 * the changes of the first. Processes that add in place share the lock (@shared). Any process that
 * may read the image may lock it, so a wait of over a second is reported. Return: a descriptor,
 * which the caller closes to unlock, or -1 if the image cannot be opened. */
int place_lock(const char *path, bool shared);

/* Checks that the locked image is still at @path, since weir build replaces an image without the
 * lock. @locked_fd: from place_lock(); -1: no lock. @lost: ends the message of say_gone(). Return:
 * TOOL_OK, or TOOL_NO after a message. */
int place_check_unchanged(const char *path, int locked_fd, const char *lost);

/* ---- saving ---- */

/* Saves @what. Return: the bytes written, or a negative errno. */
typedef int64_t saving_fn(const void *what, struct weir_location to,
                          const struct weir_save_options *options);
/* Saves with a progress line. If a signal arrives during the save, the library first removes its
 * temporary file, and then the signal ends the process. Return: 0, or a negative errno without a
 * message. */
int saving_try(saving_fn *save, const void *what, const char *path,
               const struct image_saving *how);
/* Return: true if @err means that another process has replaced the image at the path, or has
 * inserted into it. The library's message says whether the new image was saved. */
bool saving_refused(int err);
/* Saves a changed filter over the image that it was loaded from. how->replaces is the commit record
 * of that image. Return: TOOL_OK; TOOL_NO after a message if saving_refused(); TOOL_TROUBLE after a
 * message. */
int image_save(const struct weir_filter *f, const char *path, const struct image_saving *how);
/* Saves something that was not made from the image at @path: calls place_check(), then
 * saving_try(). Retries once if the image was removed or emptied between the two calls. Return: as
 * place_check(). @err: receives the result of saving_try(). */
int saving_anew(saving_fn *save, const void *what, const char *path, bool force,
                struct image_saving *how, int *err);
/* Saves a filter that was not made from the image at @path. Return: as image_save(). */
int image_save_anew(const struct weir_filter *f, const char *path, bool force,
                    struct image_saving *how);

/* Parse the values of --zstd[=LEVEL], for which a @text of NULL is level 3, and of --mode=OCTAL.
 * Return: false after a message. */
bool parse_zstd(const char *text, int *level);
bool parse_mode(const char *text, uint32_t *mode);

#endif
