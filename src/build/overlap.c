/* SPDX-License-Identifier: MIT
 * Finds the hashes that two lists have in common. For each bin, a hash table of one list is probed
 * with the hashes of the other list. Each thread takes the next bin that no thread has taken. */
#include "build/distinct.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "ground/error.h"
#include "ground/threads.h"

struct work {
	const struct weir_distinct *a, *b;
	uint64_t factor;
	atomic_uint next; /* the first bin that no thread has taken */
	pthread_mutex_t lock;
	uint64_t equal, least;
};

/* The hash table of one list's bin, and a buffer for a bin of either list. */
struct scratch {
	uint64_t *table, *other;
	uint64_t factor; /* weir__any_factor() */
	unsigned bits;   /* log2 of the slots of the table */
	bool zero;       /* the bin has hash 0, which is not in the table: 0 marks a free slot */
};

static uint64_t slot_of(const struct scratch *scratch, uint64_t hash)
{
	return hash * scratch->factor >> (64 - scratch->bits);
}

/* Return: the slot of a hash, or the free slot where it would go. */
static uint64_t *find(const struct scratch *scratch, uint64_t hash)
{
	const uint64_t last = (UINT64_C(1) << scratch->bits) - 1;
	uint64_t slot = slot_of(scratch, hash);
	while (scratch->table[slot] && scratch->table[slot] != hash)
		slot = (slot + 1) & last;
	return &scratch->table[slot];
}

static void fill(struct scratch *scratch, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		scratch->zero |= !scratch->other[i];
		*find(scratch, scratch->other[i]) = scratch->other[i];
	}
}

static bool has(const struct scratch *scratch, uint64_t hash)
{
	return hash ? *find(scratch, hash) == hash : scratch->zero;
}

static void count_equal(struct work *w, uint64_t hash)
{
	pthread_mutex_lock(&w->lock);
	w->least = !w->equal || hash < w->least ? hash : w->least;
	w->equal++;
	pthread_mutex_unlock(&w->lock);
}

static int compare(struct work *w, struct scratch *scratch, unsigned bin)
{
	const uint64_t n = w->a->bin[bin].n, m = w->b->bin[bin].n;
	scratch->bits = 6;
	while (UINT64_C(1) << scratch->bits < 2 * m)
		scratch->bits++;
	scratch->table = calloc(UINT64_C(1) << scratch->bits, 8);
	scratch->other = malloc(8 * (n > m ? n : m) + 8);
	if (!scratch->table || !scratch->other)
		return weir__fail(-ENOMEM, "no memory to compare two lists of keys");
	int err = weir__distinct_read(w->b, bin, WEIR_BIN_BITS, scratch->other);
	if (err)
		return err;
	fill(scratch, m);
	err = weir__distinct_read(w->a, bin, WEIR_BIN_BITS, scratch->other);
	for (uint64_t i = 0; !err && i < n; i++)
		if (has(scratch, scratch->other[i]))
			count_equal(w, scratch->other[i]);
	return err;
}

static int compare_bins(void *work)
{
	struct work *w = work;
	int err = 0;
	while (!err) {
		const unsigned bin = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed);
		struct scratch scratch = { .factor = w->factor };
		if (bin >= WEIR_BINS)
			break;
		if (w->a->bin[bin].n && w->b->bin[bin].n)
			err = compare(w, &scratch, bin);
		free(scratch.table);
		free(scratch.other);
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
