/* SPDX-License-Identifier: MIT
 * Two tests. In the first, a handle is destroyed while new readers still load its address from a
 * pointer of the application. In the second, threads insert and end while reloads run, and some
 * threads do not unregister from liburcu before they end. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include "flavor.h"

enum { KEYS = 200, AT_ONCE = 4, FOUND = 5 };

/* ---- a handle is destroyed while readers find it ---- */

struct application {
	const struct rcu_flavor_struct *flavor;
	struct weir_handle *_Atomic set; /* read in a section; NULL: no handle at the moment */
	uint64_t rounds;
	atomic_bool over;
	_Atomic uint64_t found; /* number of times that a reader has found the current handle */
	_Atomic uint64_t lookups, nothing;
};

static void arrive(struct application *a, unsigned thread)
{
	uint64_t random = thread, lookups = 0, nothing = 0;
	while (!atomic_load_explicit(&a->over, memory_order_relaxed)) {
		a->flavor->read_lock();
		struct weir_handle *h = atomic_load_explicit(&a->set, memory_order_acquire);
		if (h) {
			uint64_t one = stress_hash(stress_random(&random) % KEYS);
			uint64_t other = stress_hash(stress_random(&random) % KEYS);
			check(weir_handle_contains_hash(h, one), "a key is missed");
			check(weir_handle_insert_hash(h, other) == WEIR_SEEN, "a key is new");
			lookups++;
			atomic_fetch_add_explicit(&a->found, 1, memory_order_relaxed);
		} else {
			nothing++;
		}
		flavor_read_unlock(a->flavor);
		a->flavor->read_quiescent_state();
		sched_yield();
	}
	atomic_fetch_add_explicit(&a->lookups, lookups, memory_order_relaxed);
	atomic_fetch_add_explicit(&a->nothing, nothing, memory_order_relaxed);
}

static struct weir_handle *make(const struct application *a)
{
	struct layout layout = stress_layout(0);
	struct weir_filter *f = stress_filter(&layout, KEYS * 2, NULL, NULL);
	for (uint64_t i = 0; i < KEYS; i++)
		(void)weir_insert_hash(f, stress_hash(i));
	return flavor_handle(a->flavor, 0, f);
}

/* Reload, so that some handles have a previous filter when they are destroyed, and some handles
 * still have a deferred free. */
static void reload(struct weir_handle *h, uint64_t round)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	o.keep_previous = round % 2;
	o.defer_free = round % 3 == 0;
	int err = weir_reload_begin(&r, h, &o);
	check(err == 0, "%s", weir_error_detail());
	err = weir_reload_copy(r, WEIR_ALL_SETS);
	check(err == 0, "%s", weir_error_detail());
	err = weir_reload_commit(r);
	check(err == 0, "%s", weir_error_detail());
}

static void own(struct application *a, unsigned thread)
{
	uint64_t random = thread;
	for (uint64_t round = 0; round < a->rounds; round++) {
		struct weir_handle *h = make(a);
		atomic_store_explicit(&a->found, 0, memory_order_relaxed);
		atomic_store_explicit(&a->set, h, memory_order_release);
		while (atomic_load_explicit(&a->found, memory_order_relaxed) < FOUND)
			sched_yield();
		stress_delay(&random);
		a->flavor->read_quiescent_state();
		if (round % 4)
			reload(h, round);
		atomic_store_explicit(&a->set, NULL, memory_order_relaxed);
		int err = weir_handle_destroy(h); /* waits for the readers that have found it */
		check(err == 0, "%s", weir_error_detail());
	}
	atomic_store_explicit(&a->over, true, memory_order_relaxed);
}

static void arrive_or_own(void *shared, unsigned thread)
{
	struct application *a = shared;
	a->flavor->register_thread();
	if (thread == 0)
		own(a, thread);
	else
		arrive(a, thread);
	a->flavor->unregister_thread();
}

/* ---- threads end while reloads run ---- */

struct work {
	const struct rcu_flavor_struct *flavor;
	struct weir_handle *h;
	uint64_t first;
	enum { LEAVES, ENDS, ENDS_IN_A_SECTION } end;
};

/* Only urcu-bp notices by itself that a thread has ended, even in a read-side section. */
static void *insert_and_end(void *argument)
{
	struct work *w = argument;
	if (w->end == LEAVES)
		w->flavor->register_thread();
	for (uint64_t i = w->first; i < w->first + KEYS; i++) {
		(void)weir_handle_insert_hash(w->h, stress_hash(i));
		check(weir_handle_contains_hash(w->h, stress_hash(i)), "key %llu is missed",
		      (unsigned long long)i);
	}
	if (w->end == LEAVES)
		w->flavor->unregister_thread();
	else if (w->end == ENDS_IN_A_SECTION)
		w->flavor->read_lock();
	return NULL;
}

static void threads_end(const struct rcu_flavor_struct *flavor, uint64_t rounds)
{
	struct layout layout = stress_layout(0);
	struct weir_filter *f = stress_filter(&layout, rounds * AT_ONCE * KEYS * 2, NULL, NULL);
	struct work works[AT_ONCE];
	pthread_t threads[AT_ONCE];
	flavor->register_thread();
	struct weir_handle *h = flavor_handle(flavor, 0, f);
	for (uint64_t round = 0; round < rounds; round++) {
		for (unsigned t = 0; t < AT_ONCE; t++) {
			works[t] = (struct work){ flavor, h, (round * AT_ONCE + t) * KEYS,
			                          flavor == &urcu_bp_flavor ? t % 3 : LEAVES };
			check(pthread_create(&threads[t], NULL, insert_and_end, &works[t]) == 0,
			      "no thread");
		}
		reload(h, round);
		flavor->thread_offline();
		for (unsigned t = 0; t < AT_ONCE; t++)
			pthread_join(threads[t], NULL);
		flavor->thread_online();
	}
	reload(h, rounds); /* no reload waits for a thread that has ended */
	for (uint64_t i = 0; i < rounds * AT_ONCE * KEYS; i++)
		check(weir_handle_contains_hash(h, stress_hash(i)), "key %llu is missed in the end",
		      (unsigned long long)i);
	stress_check_fill(weir_handle_get(h));
	int err = weir_handle_destroy(h);
	check(err == 0, "%s", weir_error_detail());
	flavor->unregister_thread();
}

int main(int argc, char **argv)
{
	struct stress options = stress_read(argc, argv, 1000);
	struct application a = { .rounds = options.operations };
	a.flavor = flavor_named(options.flavor_name);
	stress_run(options.threads + 1, arrive_or_own, &a);
	printf("%llu handles: found %llu times, %llu times none\n", (unsigned long long)a.rounds,
	       (unsigned long long)a.lookups, (unsigned long long)a.nothing);
	check(a.nothing, "readers never came when there was no handle");
	threads_end(a.flavor, options.operations / 4);
	return 0;
}
