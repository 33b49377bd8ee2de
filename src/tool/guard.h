/* SPDX-License-Identifier: MIT
 * What build and merge refuse to save: a set that nobody can have meant. */
#ifndef WEIR_TOOL_GUARD_H
#define WEIR_TOOL_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>

struct guard {
	bool allow_overfull, allow_shrink; /* the options of those names */
	uint64_t max_memory; /* to unpack an old image, or to read one whose sample does not tell */
};

/* Whether a set of these figures may be saved to @path: refused are a rate above twice the one
 * asked, and under a tenth of the keys that an image which stands there has. Return: TOOL_OK, or
 * TOOL_NO after a message. */
int guard_ask(const struct guard *guard, const struct weir_stats *fresh, const char *path);

/* What the image says to those who take it over. */
uint32_t guard_marks(const struct guard *guard);

#endif
