/* SPDX-License-Identifier: MIT
 * What build and merge refuse to save: a set that nobody can have meant. */
#ifndef WEIR_TOOL_GUARD_H
#define WEIR_TOOL_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>
#include "fill.h"

struct guard {
	bool allow_overfull, allow_shrink; /* the options of those names */
	const char *option; /* that makes more room: "-n" */
	uint64_t keys; /* all that were put in, whether or not they differ; 0: not known */
	uint64_t max_memory; /* to unpack an old image, or to read one whose sample does not tell */
};

/* Whether a set of these figures may be saved to @path: refused are more keys than its capacity at
 * a rate above twice the one asked, and under a tenth of the keys that an image which stands there
 * has. Return: TOOL_OK, or TOOL_NO after a message on each of the two that is so. */
int guard_ask(const struct guard *guard, const struct weir_stats *fresh, const char *path);

/* Of these alone the first. */
int guard_overfull(const struct guard *guard, const struct weir_stats *fresh, const char *path);

/* The filter has refused a key for lack of room.
 * @found: by the pass that added to it.
 * Return: TOOL_NO after a sentence that says what makes room. */
int guard_full(const struct weir_filter *f, const struct fill_found *found, const char *path,
               const struct guard *guard);
/* For a set of more keys than it has room for: what has room for them, "; -n 2010 has room for
 * them", or "" if nobody can tell. */
const char *guard_advice(const struct guard *guard, const struct weir_stats *stats);

/* What the image says to those who take it over. */
uint32_t guard_marks(const struct guard *guard);

#endif
