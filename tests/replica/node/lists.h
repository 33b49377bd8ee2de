/* SPDX-License-Identifier: MIT
 * Tells whether a list of a ring still has a hash. */
#ifndef WEIR_TESTS_REPLICA_LISTS_H
#define WEIR_TESTS_REPLICA_LISTS_H

#include <endian.h>
#include "node/ring.h"

static bool lists_have(const struct weir_ring *r, uint64_t hash)
{
	for (unsigned i = 0; i < WEIR_RING_LISTS; i++) {
		size_t k = r->lists[i].read_pos;
		for (const struct weir_chunk *c = r->lists[i].oldest; c; c = c->newer, k = 0)
			for (; k < c->n; k++)
				if (le64toh(c->hashes[k]) == hash)
					return true;
	}
	return false;
}

#endif
