/* SPDX-License-Identifier: MIT
 * The readers and the inserters of a drill. */
#include <time.h>
#include "drill.h"
#include "ticks.h"

/* ---- a reader ---- */

enum { BLOCK = 512 };

struct block {
	const uint64_t *hashes;
	uint64_t n;
	const char *of; /* the source of the keys, for messages */
	uint64_t first;
};

/* Takes three quarters of the blocks from the source's keys, and one quarter from an inserter's
 * keys. Half of the inserter's blocks are its newest keys, and half are chosen at random. */
static struct block choose(struct drill *d, struct reader *r, uint64_t turn)
{
	uint64_t random = drill_random(&r->random), n = d->n < BLOCK ? d->n : BLOCK;
	if (turn % 8 < 6 || !d->inserters) {
		uint64_t first = random % (d->n - n + 1);
		return (struct block){ d->source + first, n, "the source", first };
	}
	struct record *record = &d->inserter[random % d->inserters].record;
	/* Acquire: pairs with the inserter's release, so that the counted inserts happen-before the
	 * lookups of their keys. */
	uint64_t inserted = atomic_load_explicit(&record->inserted, memory_order_acquire);
	n = inserted < BLOCK ? inserted : BLOCK;
	uint64_t first = random >> 32 & 1 ? inserted - n : random % (inserted - n + 1);
	return (struct block){ record->hashes + first, n, "an inserter", first };
}

static uint64_t found_as_a_whole(const struct drill *d, const struct block *b)
{
	uint64_t found = 0;
	for (uint64_t i = 0; i < b->n; i++)
		found += weir_handle_contains_hash(d->handle, b->hashes[i]);
	return found;
}

static uint64_t found_one_by_one(const struct drill *d, const struct block *b, uint64_t *took)
{
	uint64_t found = 0, last = ticks_now();
	for (uint64_t i = 0; i < b->n; i++) {
		found += weir_handle_contains_hash(d->handle, b->hashes[i]);
		uint64_t now = ticks_now();
		took[i] = ticks_between(last + ticks.cost, now);
		last = now;
	}
	return found;
}

static void look(struct drill *d, struct reader *r, const struct block *b, bool one_by_one)
{
	uint64_t took[BLOCK];
	unsigned before = atomic_load_explicit(&d->phase, memory_order_relaxed);
	uint64_t began = ticks_now();
	uint64_t found = one_by_one ? found_one_by_one(d, b, took) : found_as_a_whole(d, b);
	uint64_t all = ticks_between(began + ticks.cost, ticks_now());
	unsigned after = atomic_load_explicit(&d->phase, memory_order_relaxed);
	/* A block counts as measured during a reload even if a reload ran for only a part of it. */
	unsigned with = before % 2 || before != after;
	if (one_by_one) {
		for (uint64_t i = 0; i < b->n; i++)
			histogram_add(&r->latency[with], took[i]);
	} else {
		r->lookups[with] += b->n;
		r->ticks[with] += all;
	}
	if (found < b->n) {
		r->lost += b->n - found;
		drill_lost(d, b->n - found,
		           "%llu of %llu keys of %s, from number %llu on, were not found",
		           (unsigned long long)(b->n - found), (unsigned long long)b->n, b->of,
		           (unsigned long long)b->first);
	}
	uint64_t checked = atomic_load_explicit(&r->checked, memory_order_relaxed) + b->n;
	atomic_store_explicit(&r->checked, checked, memory_order_relaxed);
}

void drill_read(struct reader *r)
{
	struct drill *d = r->drill;
	for (uint64_t turn = 0; !atomic_load_explicit(&d->over, memory_order_relaxed); turn++) {
		struct block b = choose(d, r, turn);
		if (b.n)
			look(d, r, &b, turn % 2);
		flavor_quiet(&d->flavor);
	}
}

/* ---- an inserter ---- */

enum { ROUND = 512 };

static void hash_keys(struct inserter *i, uint64_t first, unsigned n)
{
	char key[DRILL_KEY_BYTES];
	for (unsigned j = 0; j < n; j++) {
		drill_key(i->drill, key, DRILL_INSERTED, i->number, first + j);
		i->record.hashes[first + j] = weir_handle_hash(i->drill->handle, key, sizeof key);
	}
}

static void insert(struct inserter *i, uint64_t first, unsigned n)
{
	struct drill *d = i->drill;
	struct record *record = &i->record;
	unsigned before = atomic_load_explicit(&d->phase, memory_order_relaxed);
	uint64_t began = ticks_now();
	for (unsigned j = 0; j < n; j++) {
		/* Release: a loader that reads the count sees the hash. */
		atomic_store_explicit(&record->begun, first + j + 1, memory_order_release);
		int answer = weir_handle_insert_hash(d->handle, record->hashes[first + j]);
		if (answer < 0) {
			drill_fail(d, answer);
			return;
		}
		/* Release: a reader that reads the count finds the key in the filter. */
		atomic_store_explicit(&record->inserted, first + j + 1, memory_order_release);
	}
	uint64_t took = ticks_between(began + ticks.cost, ticks_now());
	unsigned after = atomic_load_explicit(&d->phase, memory_order_relaxed);
	unsigned with = before % 2 || before != after;
	i->made[with] += n;
	i->ticks[with] += took;
}

/* Sleeps @seconds, but at most 50 ms, so that the thread notices the end of the drill soon. */
static void pause_for(struct inserter *i, double seconds)
{
	const struct flavor *flavor = &i->drill->flavor;
	seconds = seconds > 0.05 ? 0.05 : seconds;
	struct timespec t = { 0, (long)(seconds * 1e9) };
	flavor_sleep(flavor);
	nanosleep(&t, NULL);
	flavor_wake(flavor);
}

void drill_insert(struct inserter *i)
{
	struct drill *d = i->drill;
	uint64_t random = ~d->params.seed + i->number, made = 0;
	while (!atomic_load_explicit(&d->over, memory_order_relaxed) && made < i->record.room) {
		unsigned n = 1 + (unsigned)(drill_random(&random) % ROUND);
		n = n < i->record.room - made ? n : (unsigned)(i->record.room - made);
		hash_keys(i, made, n);
		insert(i, made, n);
		made += n;
		flavor_quiet(&d->flavor);
		double ahead = (double)made / (double)i->record.room - drill_part(d);
		while (ahead > 0 && !atomic_load_explicit(&d->over, memory_order_relaxed)) {
			double share = (double)(drill_random(&random) >> 11) * 0x1p-53;
			pause_for(i, ahead * d->seconds * 2 * share);
			ahead = (double)made / (double)i->record.room - drill_part(d);
		}
	}
}
