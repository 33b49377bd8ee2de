/* SPDX-License-Identifier: MIT
 * What an image says of a window. It is a compound (image/compound.h) with a member for each
 * generation, the newest first, which is a blocked filter (W9). Of the shape's numbers the names
 * are in window/kind.c. A member's note is its age in nanoseconds when the image was saved, or
 * WEIR_WINDOW_NEVER: it was never the newest, like all after it. The spare is not saved. */
#ifndef WEIR_SRC_WINDOW_IMAGE_H
#define WEIR_SRC_WINDOW_IMAGE_H

#include "kind/kind.h"
#include "window/window.h"

enum { WEIR_WINDOW_LAYOUT, WEIR_WINDOW_G, WEIR_WINDOW_WORDS, WEIR_WINDOW_BITS }; /* of its shape */

#define WEIR_WINDOW_MOST_KEYS (UINT64_C(1) << 48) /* that are counted in the newest generation */
#define WEIR_WINDOW_NEVER UINT64_MAX
#define WEIR_WINDOW_OLDEST (UINT64_C(1) << 62) /* ns: 146 years. The sum of two fits a uint64_t. */

/* The words for its own use. */
enum {
	WEIR_WINDOW_SPAN,       /* span_seconds, IEEE 754 binary64 */
	WEIR_WINDOW_PER_KEYS,   /* generation_keys */
	WEIR_WINDOW_COUNTED,    /* of them, in the newest generation */
	WEIR_WINDOW_SAVED,      /* when, in ns since 1970 */
	WEIR_WINDOW_OWN,        /* how many */
};

/* A member as it is saved. */
struct weir_shape weir__window_member_shape(uint32_t z, uint32_t g);
double weir__window_span_of(const uint64_t own[WEIR_WINDOW_OWN]);
/* Do the number of members, the words of its own and the notes make sense? Else the sentence does
 * not begin with the image's name. Return: 0 or -EBADMSG. */
int weir__window_suits(const struct weir_parts *parts);
/* CLOCK_REALTIME as an image may have it, whatever the machine's clock says: 1 to 2^63. */
uint64_t weir__window_real_time(void);
/* Generations that have been the newest: the first so many. */
unsigned weir__window_used(const uint64_t note[], unsigned n);

#endif
