/* SPDX-License-Identifier: MIT
 * A router in a handle, while one thread clears its sets one after the other. An inserting thread
 * must find each of its keys. The only exception: a reload clears the key's set, and that reload's
 * weir_reload_begin() returned after the insert began. A reload that clears other sets loses no key
 * of this set. */
#include <stdio.h>
#include <string.h>
#include "flavor.h"

enum { SETS = 9, RECENT = 512, LOOKS = 8 };

struct race {
	struct weir_handle *h;
	const struct rcu_flavor_struct *flavor;
	uint64_t each;
	unsigned threads;
	/* for each set, two counts of the reloads that clear this set */
	_Atomic uint64_t beginning[SETS], /* rises before weir_reload_begin() */
	        begun[SETS];              /* rises after weir_reload_begin() */
	atomic_uint working;
	atomic_uint_fast64_t looks, excused, reloads;
};

/* A record of an insert. */
struct note {
	uint64_t hash;
	uint64_t begun; /* begun[set] just before the insert */
	uint32_t set;
};

static void insert(struct race *r, struct note *note, uint64_t number)
{
	note->hash = stress_hash(number);
	note->set = (uint32_t)(number % SETS);
	note->begun = atomic_load(&r->begun[note->set]);
	int answer = weir_handle_insert_into_hash(r->h, note->set, note->hash);
	check(answer >= 0, "%s", weir_error_detail());
}

/* Look up the key of an insert. The key may be missing only if a reload clears the key's set and
 * its weir_reload_begin() returned after the insert began. In that case the count @beginning of the
 * set is now larger than the count @begun was before the insert. */
static void look(struct race *r, const struct note *note)
{
	uint64_t mask = weir_handle_route_hash(r->h, note->hash);
	if (!(mask >> note->set & 1)) {
		uint64_t clears = atomic_load(&r->beginning[note->set]);
		check(clears > note->begun, "a key of set %u is lost", note->set);
		atomic_fetch_add_explicit(&r->excused, 1, memory_order_relaxed);
	}
	check(mask >> SETS == 0, "mask %llx", (unsigned long long)mask);
	atomic_fetch_add_explicit(&r->looks, 1, memory_order_relaxed);
}

/* Clear a set by a reload. The count @beginning rises before weir_reload_begin(), and the count
 * @begun rises after it. So the two counts are equal unless a weir_reload_begin() is running. */
static void clear(struct race *r, uint64_t turn, uint64_t *random)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *reload;
	const uint32_t set = (uint32_t)(turn % SETS);
	o.keep_previous = turn % 4 == 1;
	o.defer_free = turn % 3 == 1;
	atomic_fetch_add(&r->beginning[set], 1);
	int err = weir_reload_begin(&reload, r->h, &o);
	check(err == 0, "%s", weir_error_detail());
	atomic_fetch_add(&r->begun[set], 1);
	err = weir_reload_copy(reload, ~(UINT64_C(1) << set));
	check(err == 0, "%s", weir_error_detail());
	stress_delay(random);
	if (turn % 5 == 4) {
		weir_reload_abort(reload);
		return;
	}
	err = weir_reload_commit(reload);
	check(err == 0, "%s", weir_error_detail());
	if (turn % 8 == 1)
		err = weir_handle_rollback(r->h);
	check(err == 0, "%s", weir_error_detail());
	atomic_fetch_add_explicit(&r->reloads, 1, memory_order_relaxed);
}

/* The last thread clears sets. All other threads insert and look up. */
static void work(void *shared, unsigned thread)
{
	struct race *r = shared;
	static _Thread_local struct note notes[RECENT];
	uint64_t random = thread + 1, turn = 0;
	r->flavor->register_thread();
	if (thread == r->threads) {
		while (atomic_load(&r->working))
			clear(r, turn++, &random);
		r->flavor->unregister_thread();
		return;
	}
	for (uint64_t i = 0; i < r->each; i++) {
		r->flavor->read_quiescent_state();
		insert(r, &notes[i % RECENT], (uint64_t)thread << 40 | i);
		for (unsigned n = 0; n < LOOKS; n++) {
			uint64_t back = n ? stress_random(&random) % RECENT : 0;
			look(r, &notes[(i - (back > i ? i : back)) % RECENT]);
		}
	}
	atomic_fetch_sub(&r->working, 1);
	r->flavor->unregister_thread();
}

int main(int argc, char **argv)
{
	static struct race r;
	struct stress s = stress_read(argc, argv, 4000000);
	struct weir_params o = WEIR_PARAMS_INIT;
	struct weir_handle_options how = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_filter *first;
	r.flavor = flavor_named(s.flavor_name);
	r.threads = s.threads < 2 ? 2 : s.threads;
	r.each = s.operations / (LOOKS + 1) / r.threads;
	atomic_store(&r.working, r.threads);
	how.flavor = r.flavor;
	o.kind = WEIR_ROUTER;
	o.router.sets = SETS;
	/* room for every key, because the test cannot know how often a set will be cleared */
	o.capacity = r.each * r.threads / SETS + 1;
	o.fp_rate = 0.001;
	int err = weir_create(&first, &o);
	check(err == 0, "%s", weir_error_detail());
	err = weir_handle_create(&r.h, first, &how);
	check(err == 0, "%s", weir_error_detail());
	stress_run(r.threads + 1, work, &r);
	err = weir_handle_destroy(r.h);
	check(err == 0, "%s", weir_error_detail());
	check(atomic_load(&r.reloads) > 0, "no reload in %llu inserts", (unsigned long long)r.each);
	printf("%u threads, %llu inserts each, %llu lookups, %llu of keys that were cleared, "
	       "%llu reloads\n", r.threads, (unsigned long long)r.each,
	       (unsigned long long)atomic_load(&r.looks),
	       (unsigned long long)atomic_load(&r.excused),
	       (unsigned long long)atomic_load(&r.reloads));
	return 0;
}
