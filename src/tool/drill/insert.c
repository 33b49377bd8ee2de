/* SPDX-License-Identifier: MIT
 * An inserter: keys that were never inserted before, in rounds of any length with pauses of any
 * length between, so many that its share lasts until the end. It notes each in its record first,
 * inserts it, and then promises it. */
#include <time.h>
#include "drill.h"
#include "ticks.h"

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
		/* Release: the loader that reads the count finds the hash. */
		atomic_store_explicit(&record->noted, first + j + 1, memory_order_release);
		int answer = weir_handle_insert_hash(d->handle, record->hashes[first + j]);
		if (answer < 0) {
			drill_fail(d, answer);
			return;
		}
		/* Release: the reader that reads the count finds the key in the filter. */
		atomic_store_explicit(&record->promised, first + j + 1, memory_order_release);
	}
	uint64_t took = ticks_between(began + ticks.cost, ticks_now());
	unsigned after = atomic_load_explicit(&d->phase, memory_order_relaxed);
	unsigned with = before % 2 || before != after;
	i->made[with] += n;
	i->ticks[with] += took;
}

/* Not long, so that the end is not missed. */
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
