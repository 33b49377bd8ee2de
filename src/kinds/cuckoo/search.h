/* SPDX-License-Identifier: MIT
 * Inserts a copy of a fingerprint, and searches for a free slot if both of its buckets are full. */
#ifndef WEIR_SRC_KINDS_CUCKOO_SEARCH_H
#define WEIR_SRC_KINDS_CUCKOO_SEARCH_H

#include "kinds/cuckoo/move.h"

/* ---- the search for a free slot, and the path to it ---- */

enum {
	WEIR_CUCKOO_SEARCHED = 512, /* the most buckets that a search visits */
};

/* A node: a bucket that a path reaches by moving the copy at bit @shift of node @from's bucket. */
struct weir_cuckoo_nodes { /* only 10 bytes a node, since this struct is on the stack */
	uint64_t place[WEIR_CUCKOO_SEARCHED]; /* the low 48 bits: the bucket; above: from, shift */
	uint16_t fingerprint[WEIR_CUCKOO_SEARCHED];
};

/* Search breadth first from buckets @first and @second (perhaps the same) for a bucket with a free
 * slot. The search writes nothing. Its order is part of the layout: first these two buckets, then
 * for each bucket in turn the other buckets of its copies, from the lowest slot on. The search
 * visits no bucket twice.
 * @nodes: receives the buckets.
 * Return: the node with a free slot, or -1. */
int weir__cuckoo_search(const struct weir_array *a, uint64_t first, uint64_t second,
                        struct weir_cuckoo_nodes *nodes);

/* Free a slot in one of two full buckets. Return: 1 if the caller must try again; 0 if no slot can
 * be freed ([FULL-IF-QUIET]); -EAGAIN. */
int weir__cuckoo_free_slot(const struct weir_array *a, uint64_t first, uint64_t second,
                           enum weir_cuckoo_wait wait);

/* ---- inserting a copy ---- */

/* WEIR_CUCKOO_ABSENT inserts only if the buckets have no equal copy. */
enum weir_cuckoo_put { WEIR_CUCKOO_ALWAYS, WEIR_CUCKOO_ABSENT };

/* Insert a copy. Return: WEIR_NEW, WEIR_SEEN, -ENOSPC or -EAGAIN. */
int weir__cuckoo_put(const struct weir_array *a, struct weir_cuckoo_spot spot,
                     enum weir_cuckoo_put put, enum weir_cuckoo_wait wait);

#endif
