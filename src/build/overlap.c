/* SPDX-License-Identifier: MIT
 * Finds the hashes that two lists have in common. For each bin, a hash table of one list is probed
 * with the hashes of the other list. Each thread takes the next bin. */
#include "build/distinct.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "ground/error.h"
#include "ground/threads.h"

struct work {
	const struct weir_distinct *a, *b;
	uint64_t factor;
	atomic_uint next; /* the next bin */
	pthread_mutex_t lock;
	uint64_t equal, least;
};

/* The hash table of one list's bin, and a buffer for a bin of either list. */
struct room {
	uint64_t *table, *other;
	uint64_t factor; /* weir__any_factor() */
	unsigned bits;   /* log2 of the slots of the table */
	bool zero;       /* hash 0 is in the bin; in the table 0 is a free slot */
};

static uint64_t place_of(const struct room *room, uint64_t hash)
{
	return hash * room->factor >> (64 - room->bits);
}

/* Return: the slot of a hash, or the free slot where it would go. */
static uint64_t *find(const struct room *room, uint64_t hash)
{
	const uint64_t last = (UINT64_C(1) << room->bits) - 1;
	uint64_t place = place_of(room, hash);
	while (room->table[place] && room->table[place] != hash)
		place = (place + 1) & last;
	return &room->table[place];
}

static void fill(struct room *room, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		room->zero |= !room->other[i];
		*find(room, room->other[i]) = room->other[i];
	}
}

static bool has(const struct room *room, uint64_t hash)
{
	return hash ? *find(room, hash) == hash : room->zero;
}

static void note(struct work *w, uint64_t hash)
{
	pthread_mutex_lock(&w->lock);
	w->least = !w->equal || hash < w->least ? hash : w->least;
	w->equal++;
	pthread_mutex_unlock(&w->lock);
}

static int compare(struct work *w, struct room *room, unsigned bin)
{
	const uint64_t n = w->a->bin[bin].n, m = w->b->bin[bin].n;
	room->bits = 6;
	while (UINT64_C(1) << room->bits < 2 * m)
		room->bits++;
	room->table = calloc(UINT64_C(1) << room->bits, 8);
	room->other = malloc(8 * (n > m ? n : m) + 8);
	if (!room->table || !room->other)
		return weir__fail(-ENOMEM, "no memory to compare two lists of keys");
	int err = weir__distinct_read(w->b, bin, WEIR_BIN_BITS, room->other);
	if (err)
		return err;
	fill(room, m);
	err = weir__distinct_read(w->a, bin, WEIR_BIN_BITS, room->other);
	for (uint64_t i = 0; !err && i < n; i++)
		if (has(room, room->other[i]))
			note(w, room->other[i]);
	return err;
}

static int compare_bins(void *work)
{
	struct work *w = work;
	int err = 0;
	while (!err) {
		const unsigned bin = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed);
		struct room room = { .factor = w->factor };
		if (bin >= WEIR_BINS)
			break;
		if (w->a->bin[bin].n && w->b->bin[bin].n)
			err = compare(w, &room, bin);
		free(room.table);
		free(room.other);
	}
	if (err)
		atomic_store_explicit(&w->next, WEIR_BINS, memory_order_relaxed);
	return err;
}

int weir__overlap(const struct weir_distinct *a, const struct weir_distinct *b, unsigned threads,
                  uint64_t *equal, uint64_t *least)
{
	struct work w = { .a = a, .b = b, .factor = weir__any_factor(),
		          .lock = PTHREAD_MUTEX_INITIALIZER };
	int err = weir__parallel(threads, compare_bins, &w);
	*equal = w.equal;
	*least = w.least;
	return err;
}
