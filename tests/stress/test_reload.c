/* SPDX-License-Identifier: MIT
 * Threads insert into a handle and look up what was promised, while one reloads it in every way there is: from the source, by copy,
 * from an image of itself; aborts, rolls back, drops the previous filter. No key whose insert has returned may ever be missed.
 *
 * Each round is a new handle and keys that no filter has seen. An inserter notes a key in its record, inserts it, then promises it. */
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
#include "loader.h"

enum { KEYS = 20000, AT_ONCE = 64, MANY_ROUNDS = 20 };

static void insert(struct reloads *s, unsigned thread)
{
	uint64_t random = s->first + thread;
	for (uint64_t i = 0; i < s->keys; i++) {
		uint64_t hash = reload_hash(s, thread, i);
		stress_delay(&random);
		/* Release: the loader that reads the record finds all that was written before; without it, it could read a key not there. */
		atomic_store_explicit(&s->recorded[thread], i + 1, memory_order_release);
		stress_delay(&random);
		int answer = weir_handle_insert_hash(s->handle, hash);
		check(answer >= 0, "%s", weir_error_detail());
		/* Release: orders the insert before every lookup of a thread that reads the promise. */
		atomic_store_explicit(&s->promised[thread], i + 1, memory_order_release);
		check(weir_handle_contains_hash(s->handle, hash), "key %llu of thread %u is missed by its inserter", (unsigned long long)i, thread);
		s->flavor->read_quiescent_state();
	}
	atomic_fetch_sub_explicit(&s->inserting, 1, memory_order_relaxed);
}

/* Some of an inserter's promised keys: the newest, and others. Return: how many of @hashes. */
static unsigned choose(struct reloads *s, unsigned inserter, uint64_t *random, uint64_t *hashes)
{
	uint64_t promised = atomic_load_explicit(&s->promised[inserter], memory_order_acquire);
	for (unsigned i = 0; i < AT_ONCE && promised; i++) {
		uint64_t back = i % 2 ? i : stress_random(random);
		hashes[i] = reload_hash(s, inserter, promised - 1 - back % promised);
	}
	return promised ? AT_ONCE : 0;
}

/* In a section of its own, with delays where a reload would like to free what it found. */
static unsigned found_in_section(struct reloads *s, const uint64_t *hashes, unsigned n, uint64_t *random)
{
	unsigned found = 0;
	s->flavor->read_lock();
	const struct weir_filter *f = weir_handle_get(s->handle);
	for (unsigned i = 0; i < n; i++) {
		stress_delay(random);
		found += weir_contains_hash(f, hashes[i]);
	}
	flavor_read_unlock(s->flavor);
	return found;
}

static unsigned found_one_by_one(struct reloads *s, const uint64_t *hashes, unsigned n)
{
	unsigned found = 0;
	for (unsigned i = 0; i < n; i++)
		found += weir_handle_contains_hash(s->handle, hashes[i]);
	return found;
}

static void look(struct reloads *s, unsigned thread)
{
	uint64_t random = s->first + thread, hashes[AT_ONCE], lookups = 0;
	while (atomic_load_explicit(&s->inserting, memory_order_relaxed)) {
		unsigned inserter = (unsigned)(stress_random(&random) % s->inserters), way = (unsigned)(stress_random(&random) % 3);
		unsigned n = choose(s, inserter, &random, hashes);
		unsigned found = way == 0 ? (unsigned)weir_handle_contains_hashes(s->handle, hashes, n, NULL)
		               : way == 1 ? found_one_by_one(s, hashes, n) : found_in_section(s, hashes, n, &random);
		check(found == n, "%u of %u promised keys of thread %u are missed", n - found, n, inserter);
		lookups += n;
		s->flavor->read_quiescent_state();
		sched_yield(); /* more threads than cores: else few reloads would meet few inserts among many lookups */
	}
	atomic_fetch_add_explicit(&s->lookups, lookups, memory_order_relaxed);
}

static void work(void *shared, unsigned thread)
{
	struct reloads *s = shared;
	s->flavor->register_thread();
	if (thread < s->inserters)
		insert(s, thread);
	else if (thread < s->inserters * 2)
		look(s, thread);
	else
		reload_at_random(s, thread);
	s->flavor->unregister_thread();
}

/* Every key that was inserted, in the filter that the last reload left. */
static void check_all(struct reloads *s)
{
	s->flavor->register_thread();
	for (unsigned t = 0; t < s->inserters; t++)
		for (uint64_t i = 0; i < s->keys; i++)
			check(weir_handle_contains_hash(s->handle, reload_hash(s, t, i)), "key %llu of thread %u is missed in the end",
			      (unsigned long long)i, t);
	stress_check_fill(weir_handle_get(s->handle));
	s->flavor->unregister_thread();
}

static void round_of(struct reloads *s, const struct layout *layout, const struct stress *options, uint64_t number)
{
	s->keys = KEYS;
	s->inserters = options->threads;
	s->first = (options->seed << 24 | number) << 24;
	atomic_store(&s->inserting, options->threads);
	for (unsigned t = 0; t < options->threads; t++) {
		atomic_store(&s->recorded[t], 0);
		atomic_store(&s->promised[t], 0);
	}
	int err = weir_handle_create(&s->handle, stress_filter(layout, reload_capacity(s), NULL, NULL), s->flavor);
	check(err == 0, "%s", weir_error_detail());
	stress_run(options->threads * 2 + 1, work, s);
	check_all(s);
	err = weir_handle_destroy(s->handle);
	check(err == 0, "%s", weir_error_detail());
}

static void report(const struct reloads *s, uint64_t inserts, uint64_t rounds, double seconds)
{
	printf("%llu inserts and %llu lookups in %llu rounds, %.1f s\n", (unsigned long long)inserts, (unsigned long long)s->lookups,
	       (unsigned long long)rounds, seconds);
	for (unsigned i = 0; i < RELOAD_ACTIONS; i++) {
		printf("%s %llu", i ? "," : "", (unsigned long long)s->done[i]);
		printf(" %s", reload_action_names[i]);
		check(s->done[i] || rounds < MANY_ROUNDS, "no %s happened: the test asked less than it says", reload_action_names[i]);
	}
	printf("\n");
}

/* A test of many rounds has a few more where reloads are so slow, for want of a core or by delays, that something has yet to happen. */
static bool goes_on(const struct reloads *s, uint64_t rounds)
{
	bool missing = false;
	for (unsigned i = 0; i < RELOAD_ACTIONS; i++)
		missing |= !s->done[i];
	return missing && rounds >= MANY_ROUNDS && rounds < 10 * MANY_ROUNDS;
}

int main(int argc, char **argv)
{
	struct stress options = stress_read(argc, argv, 10000000);
	static struct reloads s;
	double start = stress_seconds();
	uint64_t rounds = 0, inserts = 0;
	s.flavor = options.flavor = flavor_named(options.flavor_name);
	snprintf(s.image, sizeof s.image, "%s/weir-stress-%d.weir", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
	for (; inserts + s.lookups < options.operations || goes_on(&s, rounds); rounds++) {
		round_of(&s, &stress_layouts[rounds % stress_layout_count], &options, rounds);
		inserts += s.keys * options.threads;
	}
	unlink(s.image);
	report(&s, inserts, rounds, stress_seconds() - start);
	return 0;
}
