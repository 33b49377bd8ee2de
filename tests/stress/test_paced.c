/* SPDX-License-Identifier: MIT
 * Paced reloads of every kind while threads insert and look up: from the source, by copy, refreshes
 * by reading and by mapping, a sharded set shard by shard, and aborted and stopped reloads. A key
 * whose insert has returned may never be missed.
 *
 * In this test a sleep of the loader ends only after other threads have made progress. Each
 * inserter must insert some keys into the handle and the sharded set, and sometimes another thread
 * must see a grace period end. So neither an insert nor a grace period may wait for the sleeping
 * loader. The library is linked statically, so that the test can replace the sleeps. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <weir/image.h>
#include <weir/refresh.h>
#include "flavor.h"
#include "../sharded.h"

enum {
	KEYS_EACH = 20000,
	A_SLEEP = 50,  /* keys that each inserter inserts while the loader sleeps */
	SELDOM = 16,   /* one sleep of this many waits for a grace period */
	SHARDS = 4,
	TOGETHER = 100,
	LOOKS = 8,
	DEADLINE = 60, /* seconds */
};
/* The shares of the time in which a loader works. At 0.001 a loader sleeps for 100 ms, in five
 * pieces, after 100 us of work. A load from the source has more work, so its share is larger: it
 * sleeps after 1 ms of work. */
static const double pace = 0.001, pace_of_source = 0.01;

enum kind { FROM_SOURCE, BY_COPY, REFRESHED, MAPPED, ROLLED, ABORTED, STOPPED, KINDS };
static const char *const names[KINDS] = {
	"from source", "by copy", "refreshed", "mapped", "rolled", "aborted", "stopped",
};

static struct paced {
	const struct rcu_flavor_struct *flavor;
	struct weir_handle *handle;
	struct weir_handle *set;
	char image[64];
	unsigned inserters;
	uint64_t first;           /* number of the round's first key */
	atomic_uint inserting;
	atomic_bool over;
	_Atomic uint64_t allowed; /* the number of keys that each inserter may insert by now */
	_Atomic uint64_t graces;  /* grace periods that have ended */
	/* counts of keys, for each inserter */
	_Atomic uint64_t recorded[MOST_THREADS], /* keys whose insert is over, runs or is next */
	        promised[MOST_THREADS];          /* keys whose insert is over */
	_Atomic uint64_t lookups;
	/* used only by the loader */
	enum kind kind;
	uint64_t done[KINDS], slept[KINDS];
} s;

static _Thread_local bool loads; /* this thread is the loader */

static uint64_t key_of(unsigned thread, uint64_t i)
{
	return s.first + i * MOST_THREADS + thread;
}

static void succeeds(int64_t answer)
{
	check(answer >= 0, "%lld: %s", (long long)answer, weir_error_detail());
}

/* ---- sleeping ---- */

static void allow_more(void)
{
	atomic_fetch_add_explicit(&s.allowed, A_SLEEP, memory_order_relaxed);
}

/* Return: true if every inserter has inserted this many keys. */
static bool inserted(uint64_t keys)
{
	keys = keys < KEYS_EACH ? keys : KEYS_EACH;
	for (unsigned t = 0; t < s.inserters; t++)
		if (atomic_load_explicit(&s.promised[t], memory_order_relaxed) < keys)
			return false;
	return true;
}

static void see_others_go_on(void)
{
	uint64_t graces = atomic_load_explicit(&s.graces, memory_order_relaxed);
	uint64_t keys = atomic_load_explicit(&s.allowed, memory_order_relaxed);
	bool seldom = s.slept[s.kind]++ % SELDOM == 0; /* most sleeps wait for no grace period */
	double end = stress_seconds() + DEADLINE;
	check(!s.flavor->read_ongoing(), "a loader sleeps in a section, %s", names[s.kind]);
	allow_more();
	while (!inserted(keys + A_SLEEP) ||
	       /* two grace periods have ended, so the second began during the sleep */
	       (seldom && atomic_load_explicit(&s.graces, memory_order_relaxed) < graces + 2)) {
		usleep(50);
		check(stress_seconds() < end, "%s: while a loader sleeps %s", names[s.kind],
		      inserted(keys) ? "no grace period ends" : "nobody inserts");
	}
	allow_more(); /* keys for the work that follows */
}

int __real_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                           struct timespec *left);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                           struct timespec *left);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                           struct timespec *left)
{
	if (!loads)
		return __real_clock_nanosleep(clock, flags, until, left);
	see_others_go_on();
	return 0;
}

/* ---- threads that insert and look up ---- */

static void look(unsigned inserter, uint64_t *random)
{
	uint64_t promised = atomic_load_explicit(&s.promised[inserter], memory_order_acquire);
	for (unsigned i = 0; i < LOOKS && promised; i++) {
		uint64_t back = i % 2 ? i : stress_random(random);
		uint64_t key = key_of(inserter, promised - 1 - back % promised);
		check(weir_handle_contains(s.handle, &key, sizeof key),
		      "a promised key of thread %u is missed", inserter);
		check(weir_handle_contains(s.set, &key, sizeof key),
		      "a promised key of thread %u is missed in the sharded set", inserter);
	}
	atomic_fetch_add_explicit(&s.lookups, LOOKS, memory_order_relaxed);
}

static void insert(unsigned thread)
{
	uint64_t random = s.first + thread;
	for (uint64_t i = 0; i < KEYS_EACH; i++) {
		uint64_t key = key_of(thread, i);
		/* This store and the store after the inserts release: a thread that reads a
		 * count also sees all earlier writes. */
		atomic_store_explicit(&s.recorded[thread], i + 1, memory_order_release);
		stress_delay(&random);
		succeeds(weir_handle_insert(s.handle, &key, sizeof key));
		succeeds(weir_handle_insert(s.set, &key, sizeof key));
		atomic_store_explicit(&s.promised[thread], i + 1, memory_order_release);
		do {
			look((unsigned)(stress_random(&random) % s.inserters), &random);
			s.flavor->read_quiescent_state();
			sched_yield();
		} while (i + 1 == atomic_load_explicit(&s.allowed, memory_order_relaxed) &&
		         i + 1 < KEYS_EACH);
	}
	atomic_fetch_sub_explicit(&s.inserting, 1, memory_order_relaxed);
}

static void wait_for_graces(void)
{
	while (!atomic_load_explicit(&s.over, memory_order_relaxed)) {
		s.flavor->update_synchronize_rcu();
		usleep(50);
		atomic_fetch_add_explicit(&s.graces, 1, memory_order_relaxed);
	}
}

/* ---- the loader ---- */

/* Load the inserters' records, by single keys and by batches. */
static int fill(struct weir_reload *r, uint32_t shard, void *random)
{
	uint64_t keys[TOGETHER];
	(void)shard;
	for (unsigned t = 0; t < s.inserters; t++) {
		uint64_t n = atomic_load_explicit(&s.recorded[t], memory_order_acquire), m;
		for (uint64_t i = 0; i < n; i += m) {
			m = n - i < TOGETHER ? n - i : TOGETHER;
			for (uint64_t j = 0; j < m; j++)
				keys[j] = key_of(t, i + j);
			if (stress_random(random) % 2)
				succeeds(weir_reload_insert_keys(r,
				                                 weir_keys_fixed(keys,
				                                                 sizeof keys[0], m),
				                                 NULL));
			else
				for (uint64_t j = 0; j < m; j++)
					succeeds(weir_reload_insert(r, &keys[j], sizeof keys[j]));
		}
	}
	return 0;
}

static void reload(uint64_t *random)
{
	struct weir_reload_options options = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	struct weir_gate counted = WEIR_GATE_INIT;
	counted.max_fill = 1;
	options.pace = s.kind == BY_COPY ? pace : pace_of_source;
	options.keep_previous = stress_random(random) & 1;
	options.defer_free = stress_random(random) & 1;
	options.gate = stress_random(random) & 1 ? &counted : NULL;
	succeeds(weir_reload_begin(&r, s.handle, &options));
	if (s.kind == BY_COPY || (s.kind == ABORTED && stress_random(random) & 1))
		succeeds(weir_reload_copy(r, WEIR_ALL_SETS));
	else
		succeeds(fill(r, 0, random));
	if (s.kind == ABORTED)
		weir_reload_abort(r);
	else
		succeeds(weir_reload_commit(r));
}

/* Stop a refresh at a random call. The refresh may end before it is stopped. */
static int stop_now_and_then(void *random, uint64_t done, uint64_t total)
{
	(void)done, (void)total;
	return s.kind == STOPPED && stress_random(random) % 8 == 0;
}

static void refresh(uint64_t *random)
{
	struct weir_refresh_options options = WEIR_REFRESH_OPTIONS_INIT;
	options.pace = pace;
	options.carry = true;
	options.map = s.kind == MAPPED;
	options.progress = stop_now_and_then;
	options.progress_arg = random;
	s.flavor->read_lock();
	int64_t saved = weir_save(weir_handle_get(s.handle), weir_location_path(s.image), NULL);
	flavor_read_unlock(s.flavor);
	check(saved > 0, "%s", weir_error_detail());
	int err = weir_handle_refresh(s.handle, s.image, &options);
	check(err == 1 || (err == -ECANCELED && s.kind == STOPPED), "%d: %s", err,
	      weir_error_detail());
}

static void roll(uint64_t *random)
{
	struct weir_reload_options options = WEIR_RELOAD_OPTIONS_INIT;
	options.pace = pace_of_source;
	succeeds(weir_reload_all(s.set, &options, fill, random));
}

static void reload_in_turn(void)
{
	uint64_t random = s.first;
	loads = true;
	while (atomic_load_explicit(&s.inserting, memory_order_relaxed)) {
		if (s.kind == ROLLED)
			roll(&random);
		else if (s.kind == REFRESHED || s.kind == MAPPED || s.kind == STOPPED)
			refresh(&random);
		else
			reload(&random);
		s.done[s.kind]++;
		s.kind = (s.kind + 1) % KINDS;
		allow_more();
		s.flavor->read_quiescent_state();
	}
	loads = false;
	atomic_store_explicit(&s.over, true, memory_order_relaxed);
}

static void work(void *unused, unsigned thread)
{
	(void)unused;
	s.flavor->register_thread();
	if (thread < s.inserters)
		insert(thread);
	else if (thread == s.inserters)
		wait_for_graces();
	else
		reload_in_turn();
	s.flavor->unregister_thread();
}

/* ---- rounds ---- */

static void check_all(void)
{
	s.flavor->register_thread();
	for (unsigned t = 0; t < s.inserters; t++)
		for (uint64_t i = 0; i < KEYS_EACH; i++) {
			uint64_t key = key_of(t, i);
			check(weir_handle_contains(s.handle, &key, sizeof key) &&
			              weir_handle_contains(s.set, &key, sizeof key),
			      "key %llu of thread %u is missed in the end", (unsigned long long)i,
			      t);
		}
	stress_check_fill(weir_handle_get(s.handle));
	s.flavor->unregister_thread();
}

static void round_of(uint64_t number)
{
	struct layout layout = stress_layout(0);
	struct weir_params params = WEIR_PARAMS_INIT;
	uint64_t capacity = (uint64_t)KEYS_EACH * s.inserters * 5 / 4;
	s.first = number << 40;
	atomic_store(&s.inserting, s.inserters);
	atomic_store(&s.over, false);
	atomic_store(&s.allowed, A_SLEEP);
	for (unsigned t = 0; t < s.inserters; t++) {
		atomic_store(&s.recorded[t], 0);
		atomic_store(&s.promised[t], 0);
	}
	s.handle = flavor_handle(s.flavor, 0, stress_filter(&layout, capacity, NULL, NULL));
	params.capacity = capacity;
	params.fp_rate = 0.01;
	succeeds(sharded_create(&s.set, &params, SHARDS, s.flavor));
	stress_run(s.inserters + 2, work, NULL);
	check_all();
	succeeds(weir_handle_destroy(s.set));
	succeeds(weir_handle_destroy(s.handle));
}

/* Return: true if a loader of every kind has slept. A slow machine needs more rounds for this. */
static bool all_happened(void)
{
	for (unsigned i = 0; i < KINDS; i++)
		if (!s.slept[i])
			return false;
	return true;
}

int main(int argc, char **argv)
{
	struct stress options = stress_read(argc, argv, 80000);
	double start = stress_seconds();
	uint64_t inserts = 0, number = options.seed << 8;
	s.flavor = flavor_named(options.flavor_name);
	s.inserters = options.threads;
	snprintf(s.image, sizeof s.image, "%s/weir-paced-%d.weir",
	         access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
	for (; inserts < options.operations ||
	       (!all_happened() && inserts < 10 * options.operations);
	     inserts += (uint64_t)KEYS_EACH * s.inserters)
		round_of(number++);
	unlink(s.image);
	printf("%llu inserts and %llu lookups, each in two sets, %.1f s\n",
	       (unsigned long long)inserts, (unsigned long long)s.lookups,
	       stress_seconds() - start);
	for (unsigned i = 0; i < KINDS; i++)
		printf("%s %llu %s (%llu sleeps)", i ? "," : "", (unsigned long long)s.done[i],
		       names[i], (unsigned long long)s.slept[i]);
	printf("\n");
	check(all_happened(), "not every kind of reload slept");
	return 0;
}
