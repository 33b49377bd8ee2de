/* SPDX-License-Identifier: MIT
 * The keys of a builder in their order, for the kind that builds from them. */
#ifndef WEIR_SRC_BUILD_SORTED_H
#define WEIR_SRC_BUILD_SORTED_H

#include "build/builder.h"
#include "build/distinct.h"

struct weir_sorted {
	struct weir_key_set given; /* first; given.n: how many differ */
	struct weir_distinct distinct;
	struct weir_builder *b;
};

/* Sort what was collected, which is used up.  @expected: keys of the structure to come, 0: not more
 * than were collected.
 * Return: 0 or a negative errno; the caller calls weir__sorted_free() in any case. */
int weir__sort(struct weir_sorted **out, struct weir_builder *b, struct weir_collected *from,
               uint64_t expected);
void weir__sorted_free(struct weir_sorted *s);

#endif
