/* SPDX-License-Identifier: MIT
 * Builds a fuse structure (fuse.h): one part by one thread, then all parts by several. */
#ifndef WEIR_SRC_KINDS_COMMON_FUSE_BUILD_H
#define WEIR_SRC_KINDS_COMMON_FUSE_BUILD_H

#include "kinds/common/fuse.h"

/* ---- one part, by one thread ---- */

/* The scratch memory of a part. Start from { 0 }. */
struct weir_fuse_room {
	uint64_t *keys;  /* in: the hashes, roughly ordered by their top bits; out: the same in the
	                  * order of removal */
	uint8_t *by;     /* for each, the number of the cell that it was removed by, and its mark */
	uint64_t *xors;  /* for each cell, the XOR of its keys' hashes */
	uint8_t *counts; /* for each cell, as fuse_peel.c packs them */
	uint32_t *stack;
	uint64_t bytes;  /* of all the arrays */
};

/* The bytes of the room for a part with @keys keys. */
uint64_t weir__fuse_room_bytes(const struct weir_fuse *part, uint64_t keys);
/* Return: 0 or -ENOMEM. */
int weir__fuse_room_make(struct weir_fuse_room *out, const struct weir_fuse *part, uint64_t keys);
void weir__fuse_room_free(struct weir_fuse_room *room);

/*
 * Order the keys so that each has a cell of its own among those that follow.
 * @n: of room->keys, all different.  @marked: the first of them that are marked.
 * Return: true; false no such order exists with this seed, and room->keys is overwritten.
 */
bool weir__fuse_peel(struct weir_fuse_room *room, const struct weir_fuse *part, uint64_t n,
                     uint64_t marked, uint64_t seed);

/* After weir__fuse_peel(): give each key its fingerprint. In a second level give it a bit, by which
 * the marked keys are answered true and the others false.  @cells: all 0. */
void weir__fuse_assign(const struct weir_fuse_room *room, const struct weir_fuse *part, uint64_t n,
                       uint64_t seed, unsigned char *cells, bool second);

/* Builds a whole fuse structure, part by part, on at most as many threads as there are parts. */

/* The share of cells that a structure which could not be built gets more for the next try. */
#define WEIR_FUSE_MORE 0.03

struct weir_fuse_job {
	uint64_t *words;     /* of the first part, all 0 */
	uint64_t part_lines; /* from one part to the next */
	struct weir_fuse part;
	uint64_t hash_seed;
	const struct weir_key_set *keys;
	/* For a second level, the keys that it answers false; it answers those above true. No key
	 * is in both. NULL: a first or only level. */
	const struct weir_key_set *others;
};

/* Return: 0; -EAGAIN it needs more cells; or another negative errno. */
int weir__fuse_build(const struct weir_fuse_job *job);

#endif
