/* SPDX-License-Identifier: MIT
 * The word that somebody meant who mistyped it. */
#ifndef WEIR_TOOL_NEAREST_H
#define WEIR_TOOL_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Of what was offered so far, the nearest. Start from { 0 }. */
struct nearest {
	const char *word; /* NULL: none is near */
	size_t distance;
};

/* A letter more, less, another, or two exchanged make a distance of 1. A word is near that is at
 * most a third of its letters away, or that begins with what was typed. @len: of @typed. */
void nearest_offer(struct nearest *nearest, const char *typed, size_t len, const char *word);

#endif
