/* SPDX-License-Identifier: MIT
 * The loader rebuilds the set and swaps it in, again and again. With --keep-previous it rolls back
 * every fourth reload. It leaves the first quarter of the time without reloads, for comparison. */
#include <stdlib.h>
#include <time.h>
#include "drill.h"
#include "output/progress.h"
#include "output/say.h"

enum { ABSENT = 65536, SLICE = 1 << 20, ROLLBACK_EVERY = 4 };

struct loader {
	struct drill *drill;
	uint64_t *absent; /* hashes of keys that are in no filter */
};

/* Return: true if the drill has failed, or if its time is over and at least one swap was made. */
static bool should_stop(struct drill *d)
{
	return atomic_load(&d->failed) || (atomic_load(&d->over) && atomic_load(&d->swaps));
}

static void rest_until(struct drill *d, double when)
{
	flavor_sleep(&d->flavor);
	for (double left; !atomic_load(&d->over) && (left = when - seconds_now()) > 0;) {
		left = left > 0.05 ? 0.05 : left;
		nanosleep(&(struct timespec){ 0, (long)(left * 1e9) }, NULL);
	}
	flavor_wake(&d->flavor);
}

/* Inserts in slices, so that the loader notices the end of the drill soon even with a large set. */
static int insert_all(struct drill *d, struct weir_reload *r, const uint64_t *hashes, uint64_t n)
{
	for (uint64_t i = 0; i < n && !should_stop(d); i += SLICE) {
		uint64_t m = n - i < SLICE ? n - i : SLICE;
		int64_t err = weir_reload_insert_keys(r, weir_keys_hashes(hashes + i, m), NULL);
		if (err < 0)
			return (int)err;
		flavor_quiet(&d->flavor);
	}
	return 0;
}

/* Inserts the keys of the files and of the inserters' logs. Call after weir_reload_begin() has
 * returned, because every insert that begins after its return reaches the new filter by itself. The
 * logs have all earlier inserts. */
static int from_source(struct drill *d, struct weir_reload *r)
{
	int err = insert_all(d, r, d->source, d->n);
	for (unsigned i = 0; !err && i < d->inserters; i++) {
		struct record *record = &d->inserter[i].record;
		/* Acquire: pairs with the inserter's release, so that the loader sees the hashes
		 * that the inserter wrote. */
		err = insert_all(d, r, record->hashes,
		                 atomic_load_explicit(&record->begun, memory_order_acquire));
	}
	return err;
}

/* Measures the false-positive rate of the new filter and the memory of all filters. Call before the
 * new filter is published. */
static int inspect(struct loader *l, const struct weir_reload *r)
{
	struct loads *loads = &l->drill->loads;
	struct weir_handle_stats stats = WEIR_HANDLE_STATS_INIT;
	int err = weir_handle_measure(l->drill->handle, &stats, NULL);
	size_t found = weir_contains_keys(weir_reload_next(r), weir_keys_hashes(l->absent, ABSENT),
	                                  NULL);
	double rate = (double)found / ABSENT;
	loads->fp_rate_most = rate > loads->fp_rate_most ? rate : loads->fp_rate_most;
	loads->bytes_most = stats.bytes > loads->bytes_most ? stats.bytes : loads->bytes_most;
	return err;
}

static void note_time(struct loads *loads, double seconds)
{
	if (loads->n == loads->room) {
		loads->room = loads->room * 2 + 64;
		loads->seconds = xrealloc(loads->seconds, loads->room * sizeof *loads->seconds);
	}
	loads->seconds[loads->n++] = seconds;
}

static int swap(struct loader *l)
{
	struct drill *d = l->drill;
	struct weir_reload_options options = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r;
	options.keep_previous = d->keep_previous;
	options.pace = d->pace;
	double began = seconds_now();
	int err = weir_reload_begin(&r, d->handle, &options);
	if (err)
		return err;
	err = d->by_copy ? weir_reload_copy(r, WEIR_ALL_SETS) : from_source(d, r);
	if (!err)
		err = inspect(l, r);
	if (err || should_stop(d)) {
		d->loads.aborted += !err;
		weir_reload_abort(r);
		return err;
	}
	err = weir_reload_commit(r);
	if (!err) {
		note_time(&d->loads, seconds_now() - began);
		atomic_fetch_add(&d->swaps, 1);
	}
	return err;
}

static int rollback(struct drill *d)
{
	int err = weir_handle_rollback(d->handle);
	d->loads.rollbacks += !err;
	if (!err)
		atomic_fetch_add(&d->swaps, 1);
	return err;
}

static int reload(struct loader *l)
{
	struct drill *d = l->drill;
	double began = seconds_now();
	atomic_fetch_add(&d->phase, 1);
	int err = swap(l);
	if (!err && d->keep_previous && d->loads.n % ROLLBACK_EVERY == 0 && !should_stop(d))
		err = rollback(d);
	atomic_fetch_add(&d->phase, 1);
	d->loads.busy += seconds_now() - began;
	return err;
}

static uint64_t *absent_hashes(const struct drill *d)
{
	uint64_t *hashes = xmalloc(ABSENT * sizeof *hashes);
	char key[DRILL_KEY_BYTES];
	for (uint64_t i = 0; i < ABSENT; i++) {
		drill_key(d, key, DRILL_ABSENT, 0, i);
		hashes[i] = weir_handle_hash(d->handle, key, sizeof key);
	}
	return hashes;
}

void drill_load(struct drill *d)
{
	struct loader l = { d, absent_hashes(d) };
	double next = d->began + d->seconds / 4;
	do {
		rest_until(d, next);
		next += d->every;
		/* If a reload has taken longer than --every, do not make up for the missed
		 * starts. */
		if (next < seconds_now())
			next = seconds_now();
		int err = should_stop(d) ? 0 : reload(&l);
		if (err)
			drill_fail(d, err);
		flavor_quiet(&d->flavor);
	} while (!should_stop(d));
	free(l.absent);
}
