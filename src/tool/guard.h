/* SPDX-License-Identifier: MIT
 * What build and merge refuse to save: a set that nobody can have meant. */
#ifndef WEIR_TOOL_GUARD_H
#define WEIR_TOOL_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>

struct guard {
	bool allow_overfull, allow_shrink; /* the options of those names */
	uint64_t keys; /* that were put in, whether or not they differ; 0: not known */
	uint64_t max_memory; /* to unpack an old image, or to read one whose sample does not tell */
};

/* Whether a set of these figures may be saved to @path: refused are a rate above twice the one
 * asked, and under a tenth of the keys that an image which stands there has. Return: TOOL_OK, or
 * TOOL_NO after a message on each of the two that is so. */
int guard_ask(const struct guard *guard, const struct weir_stats *fresh, const char *path);

/* A number of keys to make room for, in a set which has more than it has room for. @keys: as in
 * struct guard. Return: 0 if nobody can tell. */
uint64_t guard_room(const struct weir_stats *stats, uint64_t keys);

/* What the image says to those who take it over. */
uint32_t guard_marks(const struct guard *guard);

#endif
