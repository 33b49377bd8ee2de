/* SPDX-License-Identifier: MIT
 * Puts a copy in, and searches for a free place if both buckets are full. */
#ifndef WEIR_SRC_KINDS_CUCKOO_SEARCH_H
#define WEIR_SRC_KINDS_CUCKOO_SEARCH_H

#include "kinds/cuckoo/move.h"

/* ---- the search for a free place, and the path to it ---- */

enum {
	WEIR_CUCKOO_SEARCHED = 512, /* the most buckets that a search visits */
};

/* A bucket that a path reaches by moving the copy at bit @shift of node @from's bucket. */
struct weir_cuckoo_nodes { /* 10 bytes each, since they are on the stack */
	uint64_t place[WEIR_CUCKOO_SEARCHED]; /* the bucket; above it, from and shift */
	uint16_t fingerprint[WEIR_CUCKOO_SEARCHED];
};

/*
 * Search breadth first from buckets @first and @second (perhaps the same) for one with a free
 * place. Nothing is written. The order is part of the layout: first the two, then for each bucket
 * in turn the other buckets of its copies, from the lowest place on; each bucket once.
 * @nodes: receives them.
 * Return: the node with a free place, or -1.
 */
int weir__cuckoo_search(const struct weir_array *a, uint64_t first, uint64_t second,
                        struct weir_cuckoo_nodes *nodes);

/* Free a place in one of two full buckets. Return: 1: try again; 0: no room (C8); -EAGAIN. */
int weir__cuckoo_make_room(const struct weir_array *a, uint64_t first, uint64_t second,
                           enum weir_cuckoo_wait wait);

/* ---- putting in a copy ---- */

/* WEIR_CUCKOO_ABSENT: only if the buckets have no equal copy. */
enum weir_cuckoo_put { WEIR_CUCKOO_ALWAYS, WEIR_CUCKOO_ABSENT };

/* Return: WEIR_NEW, WEIR_SEEN, -ENOSPC or -EAGAIN. */
int weir__cuckoo_put(const struct weir_array *a, struct weir_cuckoo_spot spot,
                     enum weir_cuckoo_put put, enum weir_cuckoo_wait wait);

#endif
