/* SPDX-License-Identifier: MIT
 * The place where an image is to be saved: what stands there must not be lost by a slip. */
#ifndef WEIR_TOOL_PLACE_H
#define WEIR_TOOL_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include "images.h"
#include "lines.h"

/* Whether a file can be made there, and may be: better known before an hour of work than after.
 * "-" is standard output. Refused is a file that is neither empty nor a weir image, an image that
 * is damaged as far as its head shows, and a live one, unless @force. Return: TOOL_OK, TOOL_NO or
 * TOOL_TROUBLE, the latter two after a message. */
int place_ask(const char *path, bool force);

/* Likewise of a delta: refused is a file that is neither empty nor a delta. */
int place_ask_delta(const char *path, bool force);

/* Whether @path is none of the files that are read, by whatever name or link. Return: TOOL_OK, or
 * TOOL_NO after a message. */
int place_is_not_read(const char *path, const struct lines_options *from);

/* Whether the bits of the image there, if one is, are those of its checksums. It is not looked at
 * if it is much larger than @bytes of bits, those of the image that replaces it: the check is to
 * cost no more than the building did. Return: TOOL_OK, or TOOL_NO after a message. */
int place_is_whole(const char *path, uint64_t bytes, const struct image_how *how);

/* Is @path one of the images that are read, by whatever name or link? */
bool place_is_one_of(const char *path, char **names, size_t n);

/* The turn of one that adds to the image @path. Of two at the same time the second would replace
 * what the first has written by what was there before. Those that add in place (@shared) need not
 * wait for each other. Return: a descriptor to be closed afterwards; -1: what is wrong shows when
 * it is read. Whoever may read the image may lock it, so a wait of a second is reported. */
int place_turn(const char *path, bool shared);

/* Whether the image of that turn (-1: none) still stands there: weir build replaces it without one.
 * @lost: the end of a message, after "what was to be".
 * Return: TOOL_OK, or TOOL_NO after a message. */
int place_stands(const char *path, int turn, const char *lost);

#endif
