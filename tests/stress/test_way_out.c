/* SPDX-License-Identifier: MIT
 * Reloads of a handle whose filter is nearly full. Threads insert all the time. Whenever
 * weir_handle_measure() reports nearly_full, another thread reloads the handle into a filter of
 * twice the size, from the application's record. The filters are cuckoo filters, in which inserts
 * then move keys, and growing filters at their max_capacity. An acknowledged key is never missed,
 * and a refused key is inserted again until there is room. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include "flavor.h"

enum { FIRST = 1000, TIMES = 64 /* at the end there are TIMES * FIRST keys */ };

struct thread {
	_Alignas(64) atomic_uint recorded, /* number of keys inserted or about to be inserted */
	        promised;                  /* number of keys whose inserts have returned */
	uint64_t refused;
};

static struct way {
	const char *name;
	struct weir_params params;
	struct weir_handle *handle;
	const struct rcu_flavor_struct *flavor;
	unsigned inserters, keys; /* keys: the number of keys of each inserter */
	uint64_t seed, commits, lookups;
	atomic_uint inserting;
	struct thread threads[MOST_THREADS];
} s;

static uint64_t hash_of(unsigned thread, unsigned i)
{
	return stress_hash(((s.seed * MOST_THREADS + thread) << 36) + i);
}

static void let_others(void)
{
	s.flavor->read_quiescent_state();
	sched_yield();
}

static void insert(unsigned number)
{
	struct thread *t = &s.threads[number];
	uint64_t random = s.seed + number;
	for (unsigned i = 0; i < s.keys; i++) {
		atomic_store_explicit(&t->recorded, i + 1, memory_order_release);
		stress_delay(&random);
		int answer;
		while ((answer = weir_handle_insert_hash(s.handle, hash_of(number, i))) < 0) {
			check(answer == -ENOSPC, "%s: %s", s.name, weir_error_detail());
			t->refused++;
			let_others();
		}
		atomic_store_explicit(&t->promised, i + 1, memory_order_release);
		if (i % 16 == 0)
			s.flavor->read_quiescent_state();
	}
	atomic_fetch_sub_explicit(&s.inserting, 1, memory_order_release);
}

static void look(void)
{
	uint64_t random = ~s.seed;
	while (atomic_load_explicit(&s.inserting, memory_order_acquire)) {
		for (unsigned k = 0; k < 64; k++, s.lookups++) {
			unsigned of = (unsigned)(stress_random(&random) % s.inserters);
			unsigned n = atomic_load_explicit(&s.threads[of].promised,
			                                  memory_order_acquire);
			unsigned i = n && k % 4 ? (unsigned)(stress_random(&random) % n) : n - 1;
			check(!n || weir_handle_contains_hash(s.handle, hash_of(of, i)),
			      "%s: key %u of thread %u is missed", s.name, i, of);
		}
		let_others();
	}
}

static void reload_larger(void)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	s.params.capacity *= 2;
	if (s.params.growing.max_capacity)
		s.params.growing.max_capacity = s.params.capacity;
	o.params = &s.params;
	check(weir_reload_begin(&r, s.handle, &o) == 0, "%s: %s", s.name, weir_error_detail());
	for (unsigned of = 0; of < s.inserters; of++) {
		unsigned n = atomic_load_explicit(&s.threads[of].recorded, memory_order_acquire);
		for (unsigned i = 0; i < n; i++)
			check(weir_reload_insert_hash(r, hash_of(of, i)) >= 0, "%s: %s", s.name,
			      weir_error_detail());
	}
	check(weir_reload_commit(r) == 0, "%s: %s", s.name, weir_error_detail());
	s.commits++;
}

static void watch(void)
{
	while (atomic_load_explicit(&s.inserting, memory_order_acquire)) {
		struct weir_handle_stats now = WEIR_HANDLE_STATS_INIT;
		check(weir_handle_measure(s.handle, &now, NULL) == 0, "%s", weir_error_detail());
		if (now.nearly_full)
			reload_larger();
		let_others();
	}
}

static void work(void *shared, unsigned thread)
{
	(void)shared;
	s.flavor->register_thread();
	if (thread < s.inserters)
		insert(thread);
	else if (thread == s.inserters)
		watch();
	else
		look();
	s.flavor->unregister_thread();
}

static void verify(void)
{
	s.flavor->register_thread();
	for (unsigned of = 0; of < s.inserters; of++)
		for (unsigned i = 0; i < s.keys; i++)
			check(weir_handle_contains_hash(s.handle, hash_of(of, i)),
			      "%s: key %u of thread %u is missed at the end", s.name, i, of);
	check(weir_handle_destroy(s.handle) == 0, "%s", weir_error_detail());
	s.flavor->unregister_thread();
}

static void run(const struct stress *given, const char *name, struct weir_params params,
                uint64_t round)
{
	uint64_t refused = 0;
	struct weir_filter *initial = NULL;
	memset(&s, 0, sizeof s);
	s.name = name, s.params = params;
	s.flavor = given->flavor;
	s.inserters = given->threads, s.keys = FIRST * TIMES / given->threads;
	s.inserting = given->threads;
	s.seed = given->seed + 1000 * round;
	check(weir_create(&initial, &s.params) == 0, "%s", weir_error_detail());
	s.handle = flavor_handle(s.flavor, 0, initial);
	stress_run(s.inserters + 2, work, NULL);
	verify();
	for (unsigned i = 0; i < s.inserters; i++)
		refused += s.threads[i].refused;
	check(s.commits >= 5 && s.lookups, "%s: %u reloads only", name, (unsigned)s.commits);
	printf("%s, %s: %u keys of each of %u threads, %" PRIu64 " reloads, %" PRIu64
	       " inserts refused, %" PRIu64 " lookups\n", given->flavor_name, name, s.keys,
	       s.inserters, s.commits, refused, s.lookups);
}

int main(int argc, char **argv)
{
	struct stress given = stress_read(argc, argv, 3 * FIRST * TIMES);
	struct weir_params p = WEIR_PARAMS_INIT;
	given.flavor = flavor_named(given.flavor_name);
	p.capacity = FIRST, p.fp_rate = 0.01, p.seed = 7;
	for (uint64_t round = 0; round <= given.operations / (4 * FIRST * TIMES); round++) {
		struct weir_params growing = p;
		p.kind = WEIR_CUCKOO;
		p.cuckoo.fingerprint_bits = 12;
		run(&given, "cuckoo 12", p, round);
		p.cuckoo.fingerprint_bits = 16;
		run(&given, "cuckoo 16", p, round);
		growing.kind = WEIR_GROWING, growing.growing.max_capacity = FIRST;
		run(&given, "growing", growing, round);
	}
	return 0;
}
