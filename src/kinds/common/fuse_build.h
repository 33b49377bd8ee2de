/* SPDX-License-Identifier: MIT
 * Builds a fuse structure (fuse.h). The first functions build one part, on one thread.
 * weir__fuse_build() builds all parts, on several threads. */
#ifndef WEIR_SRC_KINDS_COMMON_FUSE_BUILD_H
#define WEIR_SRC_KINDS_COMMON_FUSE_BUILD_H

#include "kinds/common/fuse.h"

/* ---- one part, by one thread ---- */

/* The scratch memory of a part. Start from { 0 }. */
struct weir_fuse_room {
	uint64_t *keys;  /* in: the hashes, roughly ordered by their top bits; out: the hashes in
	                    the order of removal */
	uint8_t *by;     /* for each key, the number (0 to 2) of the cell by which the key was
	                    removed, and the key's mark */
	uint64_t *xors;  /* for each cell, the XOR of its keys' hashes */
	uint8_t *counts; /* for each cell, the number of its keys, packed as in fuse_peel.c */
	uint32_t *stack;
	uint64_t bytes;  /* the bytes of all arrays together */
};

/* Return: the bytes of scratch memory for a part with @keys keys. */
uint64_t weir__fuse_room_bytes(const struct weir_fuse *part, uint64_t keys);
/* Allocate scratch memory. Return: 0 or -ENOMEM. */
int weir__fuse_room_make(struct weir_fuse_room *out, const struct weir_fuse *part, uint64_t keys);
void weir__fuse_room_free(struct weir_fuse_room *room);

/* Order the keys so that each key has a cell that no later key has.
 * @n: the number of keys, all distinct.  @marked: the number of marked keys, which come first.
 * Return: true, or false if no such order exists with this seed. In both cases room->keys is
 * overwritten. */
bool weir__fuse_peel(struct weir_fuse_room *room, const struct weir_fuse *part, uint64_t n,
                     uint64_t marked, uint64_t seed);

/* Fill the cells after weir__fuse_peel(). Each key gets its fingerprint. In a second level each key
 * gets a bit instead, so that marked keys are answered true and all other keys false.  @cells: all
 * 0. */
void weir__fuse_assign(const struct weir_fuse_room *room, const struct weir_fuse *part, uint64_t n,
                       uint64_t seed, unsigned char *cells, bool second);

/* ---- all parts, by several threads ---- */

/* If a structure cannot be built, the next build gets this share of additional cells. */
#define WEIR_FUSE_MORE 0.03

struct weir_fuse_job {
	uint64_t *words;     /* where the first part begins; all words are 0 */
	uint64_t part_lines; /* lines of each part */
	struct weir_fuse part;
	uint64_t hash_seed;
	const struct weir_key_set *keys;
	/* For a second level: the keys that the level answers false. The field keys has the keys
	 * that the level answers true. No key is in both sets. NULL: the structure is a first or
	 * only level. */
	const struct weir_key_set *others;
};

/* Build all parts, on at most as many threads as there are parts. Return: 0; -EAGAIN if more cells
 * are needed; or another negative errno. */
int weir__fuse_build(const struct weir_fuse_job *job);

#endif
