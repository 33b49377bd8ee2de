/* SPDX-License-Identifier: MIT
 * Building a fuse structure (fuse.h): one part by one thread, then all parts by several. */
#ifndef WEIR_SRC_KINDS_COMMON_FUSE_BUILD_H
#define WEIR_SRC_KINDS_COMMON_FUSE_BUILD_H

#include "kinds/common/fuse.h"

/* ---- one part, by one thread ---- */

/* What a part is built in. Start from { 0 }. */
struct weir_fuse_room {
	uint64_t *keys;  /* the caller puts their hashes here, near each other by their top bits;
	                    then, in the order in which they were taken away */
	uint8_t *by;     /* and which of its cells each was taken away by, and its mark */
	uint64_t *xors;  /* of each cell: the hashes of its keys, xor'ed */
	uint8_t *counts; /* 8 * how many, and xor'ed, their marks and which of their cells it is */
	uint32_t *stack;
	uint64_t bytes;  /* of all of it */
};

/* Bytes that the room of a part with so many keys takes. */
uint64_t weir__fuse_room_bytes(const struct weir_fuse *part, uint64_t keys);
/* Return: 0 or -ENOMEM. */
int weir__fuse_room_make(struct weir_fuse_room *out, const struct weir_fuse *part, uint64_t keys);
void weir__fuse_room_free(struct weir_fuse_room *room);

/*
 * Order the keys so that each has a cell to itself among those that follow.
 * @n: of room->keys, all different.  @marked: the first so many of them are marked.
 * Return: true; false there is no such order with this seed, and room->keys are no longer what they
 *   were.
 */
bool weir__fuse_peel(struct weir_fuse_room *room, const struct weir_fuse *part, uint64_t n,
                     uint64_t marked, uint64_t seed);

/* After that: give each key its fingerprint; of a second level its bit, by which the marked are
 * answered true and the others false.  @cells: all 0. */
void weir__fuse_assign(const struct weir_fuse_room *room, const struct weir_fuse *part, uint64_t n,
                       uint64_t seed, unsigned char *cells, bool second);

/* Building a whole fuse structure, part by part, by as many threads as there are parts. */

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
