/* SPDX-License-Identifier: MIT
 * Where an image is to be saved, and how: what stands there must not be lost by a slip. */
#ifndef WEIR_TOOL_SAVING_H
#define WEIR_TOOL_SAVING_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>
#include "images.h"
#include "input/lines.h"
#include "output/report.h"

/* ---- the place ---- */

/* How to save: struct weir_save_options. */
struct image_saving {
	int zstd_level; /* 0: plain */
	uint32_t mode, marks;
	uint64_t generation;
	uint64_t replaces; /* the commit record of the image that was looked at, or read to be
	                      changed; WEIR_REPLACES_NOTHING; 0: any */
};

/* Whether a file can be made there, and may be: better known before an hour of work than after.
 * "-" is standard output. Unless @force, a file that is neither empty nor a weir image is refused,
 * as is a live image, and one whose head is damaged is an error. An image that is another one than
 * at the last look is refused: keys may have been inserted into it. @saving: has that look; NULL:
 * none.
 * Return: TOOL_OK, TOOL_NO or TOOL_TROUBLE, the latter two after a message. */
int place_ask(const char *path, bool force, struct image_saving *saving);

/* The same for a delta: it refuses a file that is neither empty nor a delta. */
int place_ask_delta(const char *path, bool force);

/* The traits of the image that is to be saved. */
struct place_fresh {
	uint32_t kind, steps; /* steps: what is done to its keys */
	uint64_t key; /* the fingerprint of the hash key; 0: it has none */
	uint32_t sets; /* of a router; 0: another kind */
	const char *names[WEIR_ROUTER_SETS]; /* live as long as the filter */
};

/* The traits of a filter. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int place_fresh_of(struct place_fresh *out, const struct weir_filter *f);

/* Would the image there, if one is, keep its kind, its key, what is done to its keys, and the sets
 * of a router? Unless @force, it is refused if not. @how: to read a router.
 * Return: TOOL_OK; TOOL_NO after a message that says what would be lost; TOOL_TROUBLE after a
 * message: it cannot be read. */
int place_keeps(const char *path, const struct place_fresh *fresh, bool force,
                const struct image_how *how);

/* The kind alone, and the key alone, for a build that has read no keys yet. Return: likewise. */
int place_keeps_kind(const char *path, uint32_t kind, bool force);
int place_keeps_key(const char *path, uint64_t key, bool force);
/* The fingerprint of a hash key; 0: it is NULL. */
uint64_t place_key(const void *secret);

/* "without --cidr", "with --trim, not with --trim --cidr". */
enum { PLACE_STEPS = 2 * NORMAL_STEPS + 32 };
const char *place_steps(char text[PLACE_STEPS], uint32_t before, uint32_t now);
#define STEPS_REFUSED "servers that follow it would refuse keys prepared otherwise"

/* Does @path differ from all files that are read, whatever their names and links? Return: TOOL_OK,
 * or TOOL_NO after a message. */
int place_is_not_read(const char *path, const struct lines_options *from);

/* Whether the bits of the image there, if one is, are those of its checksums. It is not looked at
 * if it is much larger than @bytes of bits, those of the image that replaces it: the check is to
 * cost no more than the building did. Return: TOOL_OK, or TOOL_TROUBLE after a message. */
int place_is_whole(const char *path, uint64_t bytes, const struct image_how *how);

/* Is @path one of the images that are read, by whatever name or link? */
bool place_is_one_of(const char *path, char **names, size_t n);

/* Wait for the turn to change the image @path: without it, the second of two processes would undo
 * what the first has written. Processes that add in place (@shared) need not wait for each other.
 * Any process that may read the image may lock it, so a wait of a second is reported. Return: a
 * descriptor to be closed afterwards, or -1 if the image cannot be opened. */
int place_turn(const char *path, bool shared);

/* Whether the image of that turn (-1: none) still stands there: weir build replaces it without one.
 * @lost: the end of a message, after "what was to be".
 * Return: TOOL_OK, or TOOL_NO after a message. */
int place_stands(const char *path, int turn, const char *lost);

/* ---- saving ---- */

/* Return: bytes, or a negative errno. */
typedef int64_t saving_fn(const void *what, struct weir_location to,
                          const struct weir_save_options *options);
/* Save with a progress line. Interrupted by a signal it leaves nothing behind, then ends as that
 * signal ends a process. Return: 0, or a negative errno without a message. */
int saving_try(saving_fn *save, const void *what, const char *path,
               const struct image_saving *how);
/* Is the answer that another process has inserted into what stands there? The sentence says whether
 * the new image is in place. */
bool saving_refused(int err);
/* Save the filter that the image how->replaces was changed to. Return: TOOL_OK; TOOL_NO after a
 * message, if saving_refused(); or TOOL_TROUBLE after a message. */
int image_save(const struct weir_filter *f, const char *path, const struct image_saving *how);
/* Save what owes nothing to the image there: as saving_try(), after place_ask(), and again if that
 * image was removed or emptied meanwhile. Return: as place_ask(), and @err receives the negative
 * errno. */
int saving_anew(saving_fn *save, const void *what, const char *path, bool force,
                struct image_saving *how, int *err);
/* The same of a filter. Return: as image_save(). */
int image_save_anew(const struct weir_filter *f, const char *path, bool force,
                    struct image_saving *how);

/* --zstd[=LEVEL]: @text NULL is level 3. --mode=OCTAL. */
bool parse_zstd(const char *text, int *level);
bool parse_mode(const char *text, uint32_t *mode);

#endif
