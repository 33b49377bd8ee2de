/* SPDX-License-Identifier: MIT
 * Building a whole fuse structure, part by part, by as many threads as there are parts. */
#ifndef WEIR_SRC_KINDS_COMMON_FUSE_BUILD_H
#define WEIR_SRC_KINDS_COMMON_FUSE_BUILD_H

#include "kinds/common/fuse.h"

/* The share of its cells that one which could not be built gets more, for the next try. */
#define WEIR_FUSE_MORE 0.03

struct weir_fuse_job {
	uint64_t *words;     /* of the first part, all 0 */
	uint64_t part_lines; /* from one part to the next */
	struct weir_fuse part;
	uint64_t hash_seed;
	const struct weir_key_set *keys;
	/* Of a second level the keys that it answers false; those above it answers true. No key
	 * is in both. NULL: a first level, or the only one. */
	const struct weir_key_set *others;
};

/* Return: 0; -EAGAIN there must be more cells for that; or another negative errno. */
int weir__fuse_build(const struct weir_fuse_job *job);

#endif
