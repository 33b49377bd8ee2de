/* SPDX-License-Identifier: MIT
 * Threads insert into a handle whose filters are full at times, and remove keys again. Another
 * thread reloads the handle from the application's record, into larger filters, or into filters
 * that are too small, whose load is aborted. Sometimes the handle keeps the old filter, and a
 * rollback returns to the old filter unless that filter has refused a key. An acknowledged key is
 * never missed. Each counter belongs to a key that stays and a key that goes. A removal leaves the
 * count of the staying key.
 *
 * The order of calls is that of handle.h: record, then insert; remove, then delete the record, and
 * after -EBUSY remove again later. A refused key is inserted again until there is room. */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include "bounded_reload.h"

enum { KEYS_EACH = 600, LINES = 512, COUNTERS = 8 * LINES - 1, BATCH = 40 };

enum record { NONE, STAYS = 1, BOTH = 2 };

struct thread {
	/* for each counter: whether none, one or both of its two keys are recorded (enum record) */
	_Atomic unsigned char record[KEYS_EACH];
	atomic_uint promised; /* the staying keys 0 to promised - 1 are in the filter */
	uint64_t refused, busy;
};

static struct round {
	struct weir_handle *handle;
	const struct rcu_flavor_struct *flavor;
	unsigned inserters;
	uint64_t seed;
	atomic_uint inserting;
	struct thread threads[MOST_THREADS];
} s;

static struct totals {
	uint64_t commits, too_small, rolled_back, voided, kept, refused, busy;
	_Atomic uint64_t lookups;
} totals;

static uint64_t hash_of(unsigned thread, unsigned i, bool goes)
{
	return thread * KEYS_EACH + i + (goes ? COUNTERS : 0);
}

static void let_others(void)
{
	s.flavor->read_quiescent_state();
	sched_yield();
}

/* Insert until all keys are accepted. Keys before the first refused key are not inserted again. */
static void insert_all(struct thread *t, const uint64_t *hashes, size_t n)
{
	for (size_t at = 0; at < n;) {
		int64_t answer =
			n - at == 1 ? weir_handle_insert_hash(s.handle, hashes[at]) :
				      weir_handle_insert_keys(s.handle,
		                                              weir_keys_hashes(hashes + at, n - at),
		                                              NULL);
		check(answer >= 0 || answer == -ENOSPC, "%s", weir_error_detail());
		if (answer >= 0)
			return;
		at += n - at == 1 ? 0 : weir_error_taken();
		t->refused++;
		let_others();
	}
}

static void remove_one(struct thread *t, uint64_t hash)
{
	for (int err; (err = weir_handle_remove_hash(s.handle, hash)) != 1; t->busy++) {
		check(err == -EBUSY, "%s", weir_error_detail());
		let_others();
	}
}

static void insert(unsigned thread)
{
	struct thread *t = &s.threads[thread];
	uint64_t random = s.seed + thread, hashes[2 * BATCH];
	for (unsigned i = 0, n; i < KEYS_EACH; i += n) {
		n = 1 + (unsigned)(stress_random(&random) % BATCH);
		n = n < KEYS_EACH - i ? n : KEYS_EACH - i;
		for (unsigned k = 0; k < n; k++) {
			hashes[k] = hash_of(thread, i + k, false);
			hashes[n + k] = hash_of(thread, i + k, true);
			atomic_store_explicit(&t->record[i + k], BOTH, memory_order_release);
		}
		stress_delay(&random);
		insert_all(t, hashes, 2 * n);
		atomic_store_explicit(&t->promised, i + n, memory_order_release);
		stress_delay(&random);
		for (unsigned k = 0; k < n; k++) {
			remove_one(t, hashes[n + k]);
			atomic_store_explicit(&t->record[i + k], STAYS, memory_order_release);
		}
		let_others();
	}
	atomic_fetch_sub_explicit(&s.inserting, 1, memory_order_relaxed);
}

static void look(unsigned thread)
{
	uint64_t random = s.seed + thread, lookups = 0;
	while (atomic_load_explicit(&s.inserting, memory_order_relaxed)) {
		unsigned of = (unsigned)(stress_random(&random) % s.inserters);
		unsigned n = atomic_load_explicit(&s.threads[of].promised, memory_order_acquire);
		for (unsigned k = 0; n && k < 16; k++, lookups++) {
			unsigned i = k ? (unsigned)(stress_random(&random) % n) : n - 1;
			check(weir_handle_contains_hash(s.handle, hash_of(of, i, false)),
			      "key %u of thread %u is missed", i, of);
		}
		let_others();
	}
	atomic_fetch_add_explicit(&totals.lookups, lookups, memory_order_relaxed);
}

/* Load the keys of the record. Return: false if they do not fit. */
static bool load(struct weir_reload *r, uint64_t *random)
{
	for (unsigned thread = 0; thread < s.inserters; thread++)
		for (unsigned i = 0; i < KEYS_EACH; i++) {
			unsigned keys = atomic_load_explicit(&s.threads[thread].record[i],
			                                     memory_order_acquire);
			for (unsigned key = 0; key < keys; key++)
				if (weir_reload_insert_hash(r, hash_of(thread, i, key)) < 0)
					return false;
			if (i % 64 == 0)
				stress_delay(random);
		}
	return true;
}

/* Roll back to the previous filter or drop it, because removals fail while the handle keeps it. */
static void settle(uint64_t *random)
{
	stress_delay(random);
	let_others();
	if (stress_random(random) % 2 == 0) {
		int err = weir_handle_rollback(s.handle);
		check(err == 0 || err == -ENOENT, "%s", weir_error_detail());
		totals.rolled_back += err == 0;
		totals.voided += err != 0;
		if (err == 0)
			return;
	}
	check(weir_handle_drop_previous(s.handle) == 0, "%s", weir_error_detail());
}

/* Return: a capacity a little above the number of recorded keys, so that the filter fills soon. */
static uint32_t capacity_for_all(void)
{
	uint32_t room = 4 * BATCH * s.inserters;
	for (unsigned thread = 0; thread < s.inserters; thread++)
		for (unsigned i = 0; i < KEYS_EACH; i++)
			room += atomic_load_explicit(&s.threads[thread].record[i],
			                             memory_order_relaxed);
	return room;
}

/* Return: at most the current filter's capacity, possibly too small for the load. */
static uint32_t smaller_capacity(uint64_t *random)
{
	s.flavor->read_lock();
	uint32_t room = (uint32_t)bounded_most(weir_handle_get(s.handle));
	flavor_read_unlock(s.flavor);
	return room / 2 + (uint32_t)(stress_random(random) % (room / 2 + 1));
}

static void reload(unsigned thread)
{
	uint64_t random = s.seed + thread;
	while (atomic_load_explicit(&s.inserting, memory_order_relaxed)) {
		struct weir_handle_stats now = WEIR_HANDLE_STATS_INIT;
		check(weir_handle_measure(s.handle, &now, NULL) == 0, "%s", weir_error_detail());
		const bool keep = stress_random(&random) % 2,
			   larger = now.nearly_full && stress_random(&random) % 4;
		struct weir_reload *r =
			bounded_reload(s.handle, LINES, larger ? capacity_for_all() :
			                                         smaller_capacity(&random), keep);
		if (load(r, &random)) {
			check(weir_reload_commit(r) == 0, "%s", weir_error_detail());
			totals.commits++;
			totals.kept += keep;
			if (keep)
				settle(&random);
		} else {
			weir_reload_abort(r);
			totals.too_small++;
		}
		let_others();
	}
}

static void work(void *shared, unsigned thread)
{
	(void)shared;
	s.flavor->register_thread();
	if (thread < s.inserters)
		insert(thread);
	else if (thread < 2 * s.inserters)
		look(thread);
	else
		reload(thread);
	s.flavor->unregister_thread();
}

/* Check that all staying keys are found, and that the counters agree with the number of copies. */
static void verify(void)
{
	s.flavor->register_thread();
	const struct weir_filter *f = weir_handle_get(s.handle);
	uint64_t all = 0;
	for (unsigned thread = 0; thread < s.inserters; thread++)
		for (unsigned i = 0; i < KEYS_EACH; i++)
			check(weir_contains_hash(f, hash_of(thread, i, false)),
			      "key %u of thread %u is missed at the end", i, thread);
	for (uint64_t i = 0; i < COUNTERS; i++)
		all += (uint64_t)bounded_count(f, i);
	check(all == *bounded_word(f, 0), "%" PRIu64 " copies in all, %" PRIu64 " by counters",
	      (uint64_t)*bounded_word(f, 0), all);
	check(weir_handle_destroy(s.handle) == 0, "%s", weir_error_detail());
	s.flavor->unregister_thread();
}

static void run(const struct stress *given, uint64_t round)
{
	memset(&s, 0, sizeof s);
	s.flavor = flavor_named(given->flavor_name);
	s.inserters = given->threads;
	s.seed = given->seed + 1000 * round;
	s.inserting = s.inserters;
	s.handle = flavor_handle(s.flavor, 0, bounded_make(&bounded_removes, LINES, 100));
	stress_run(2 * s.inserters + 1, work, NULL);
	verify();
	for (unsigned i = 0; i < s.inserters; i++)
		totals.refused += s.threads[i].refused, totals.busy += s.threads[i].busy;
}

int main(int argc, char **argv)
{
	struct stress given = stress_read(argc, argv, 100000);
	check(given.threads * KEYS_EACH < COUNTERS, "--threads %u: too many", given.threads);
	uint64_t rounds = given.operations / (2 * KEYS_EACH * given.threads) + 1;
	for (uint64_t round = 0; round < rounds; round++)
		run(&given, round);
	printf("%s: %" PRIu64 " rounds of %u inserters, %" PRIu64 " lookups; %" PRIu64
	       " commits, %" PRIu64 " reloads too small, %" PRIu64 " kept, %" PRIu64
	       " rolled back, %" PRIu64 " void; %" PRIu64 " inserts refused, %" PRIu64
	       " removals put off\n",
	       given.flavor_name, rounds, given.threads, (uint64_t)totals.lookups, totals.commits,
	       totals.too_small, totals.kept, totals.rolled_back, totals.voided, totals.refused,
	       totals.busy);
	return 0;
}
