/* SPDX-License-Identifier: MIT
 * An insert: look, take a free place, or make one and look again.
 *
 * "New" is answered if no equal fingerprint was in the two buckets (C4, without an end of its
 * tries). Of two threads with one key at least one is: a thread that finds the other's copy finds
 * it before its own swap, so not both find each other's. */
#include "ground/error.h"
#include "kinds/cuckoo/put.h"

/* The two buckets of a copy. */
struct pair {
	uint64_t bucket[2];
	uint64_t word[2];
};

/* Return: is an equal fingerprint there? */
WEIR__INLINE bool look(const struct weir_array *a, struct pair *p, unsigned fingerprint,
                       unsigned width)
{
	const atomic_uint *version = weir__cuckoo_version(a, fingerprint);
	unsigned before, after;
	do {
		before = weir__version_load_acquire(version);
		p->word[0] = weir__place_load_acquire(a->words + p->bucket[0]);
		p->word[1] = weir__place_load_acquire(a->words + p->bucket[1]);
		if (weir__cuckoo_has(p->word[0], fingerprint, width) ||
		    weir__cuckoo_has(p->word[1], fingerprint, width))
			return true;
		after = weir__version_load_again(version);
	} while (before != after);
	return false;
}

static int no_room(unsigned width)
{
	return weir__fail(-ENOSPC, "no room for the key: its two buckets, and those that their "
	                  "fingerprints could move to, are full. Of one key they hold %u copies "
	                  "at most; of others, insert fewer or rebuild into a larger filter",
	                  2 * weir__cuckoo_places(width));
}

WEIR__INLINE int put_in(const struct weir_array *a, struct weir_cuckoo_spot spot,
                        enum weir_cuckoo_put put, enum weir_cuckoo_wait wait, unsigned width)
{
	struct pair p = { .bucket = { spot.bucket,
		                      weir__cuckoo_other(a, spot.bucket, spot.fingerprint) } };
	int room = 1;
	while (room == 1) {
		bool seen = look(a, &p, spot.fingerprint, width);
		if (seen && put == WEIR_CUCKOO_ABSENT)
			return WEIR_SEEN;
		uint64_t free0 = weir__cuckoo_zeros(p.word[0], width),
		         free1 = weir__cuckoo_zeros(p.word[1], width);
		int to = __builtin_popcountll(free1) > __builtin_popcountll(free0);
		uint64_t zeros = to ? free1 : free0;
		if (!zeros) {
			room = weir__cuckoo_make_room(a, p.bucket[0], p.bucket[1], wait);
			continue;
		}
		uint64_t copy = (uint64_t)spot.fingerprint << weir__cuckoo_lowest(zeros, width);
		if (weir__place_swap_release(a->words + p.bucket[to], &p.word[to],
		                             p.word[to] | copy)) /* C3 */
			return seen ? WEIR_SEEN : WEIR_NEW;
	}
	return room < 0 ? room : no_room(width);
}

int weir__cuckoo_put(const struct weir_array *a, struct weir_cuckoo_spot spot,
                     enum weir_cuckoo_put put, enum weir_cuckoo_wait wait)
{
	return weir__cuckoo_width(a) == 12 ? put_in(a, spot, put, wait, 12) :
	                                     put_in(a, spot, put, wait, 16);
}
