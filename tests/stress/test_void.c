/* SPDX-License-Identifier: MIT
 * Threads insert into a handle whose previous filter has room for only some of their keys, while
 * another thread rolls back ([REFUSED-KEY] in src/set/generation.h). Either the previous filter
 * refuses a key and no rollback returns to that filter, or the rollback comes first and the insert
 * is refused.
 *
 * In every second round the rollback comes after a refusal, so many previous filters become void on
 * any machine, and are freed during inserts. In the other rounds the inserts wait for the rollback
 * shortly before the previous filter is full, so that the two meet. */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include "bounded_reload.h"

enum { KEYS_EACH = 24, LINES = 256, COUNTERS = 8 * LINES - 1, BATCH = 4, PLENTY = 1 << 20 };

static struct round {
	struct weir_handle *handle;
	const struct rcu_flavor_struct *flavor;
	unsigned inserters;
	uint64_t seed;
	uint32_t limit;        /* capacity of the previous filter: less than the number of keys */
	uint32_t rolls_after;  /* the rollback waits for this many inserts */
	atomic_uint acknowledged;
	atomic_bool rolls;
	bool returned, /* the rollback succeeded */
	        copied; /* a reload by copy replaced the filter */
	bool has[MOST_THREADS][KEYS_EACH]; /* the acknowledged keys */
} s;

static struct totals {
	uint64_t returned, voided, refused;
} totals;

static uint64_t hash_of(unsigned thread, unsigned i)
{
	return thread * KEYS_EACH + i;
}

static void let_others(void)
{
	s.flavor->read_quiescent_state();
	sched_yield();
}

/* Return: the number of accepted keys. */
static size_t insert_some(unsigned thread, unsigned i, size_t n)
{
	uint64_t hashes[BATCH];
	for (unsigned k = 0; k < n; k++)
		hashes[k] = hash_of(thread, i + k);
	int64_t answer = n == 1 ? weir_handle_insert_hash(s.handle, hashes[0]) :
		weir_handle_insert_keys(s.handle, weir_keys_hashes(hashes, n), NULL);
	check(answer >= 0 || answer == -ENOSPC, "%s", weir_error_detail());
	return answer >= 0 ? n : n == 1 ? 0 : weir_error_taken();
}

static void insert(unsigned thread)
{
	uint64_t random = s.seed + thread;
	for (unsigned i = 0, n; i < KEYS_EACH; i += n) {
		n = 1 + (unsigned)(stress_random(&random) % BATCH);
		n = n < KEYS_EACH - i ? n : KEYS_EACH - i;
		const size_t taken = insert_some(thread, i, n);
		for (unsigned k = 0; k < taken; k++)
			s.has[thread][i + k] = true;
		atomic_fetch_add_explicit(&s.acknowledged, (unsigned)taken, memory_order_relaxed);
		while (atomic_load_explicit(&s.acknowledged, memory_order_relaxed) >=
		               s.rolls_after &&
		       !atomic_load_explicit(&s.rolls, memory_order_relaxed))
			let_others();
		stress_delay(&random);
	}
}

/* Free the previous filter after it has refused a key: drop it, or begin a reload, which also frees
 * it. */
static void free_void(uint64_t *random)
{
	if (stress_random(random) % 2) {
		check(weir_handle_drop_previous(s.handle) == 0, "%s", weir_error_detail());
		return;
	}
	struct weir_reload *r = bounded_reload(s.handle, LINES, PLENTY, false);
	check(!s.handle->generation->previous, "a void filter stays");
	check(weir_reload_copy(r, WEIR_ALL_SETS) == 0, "%s", weir_error_detail());
	check(weir_reload_commit(r) == 0, "%s", weir_error_detail());
	s.copied = true;
}

static void roll_back(unsigned thread)
{
	uint64_t random = s.seed + thread;
	while (atomic_load_explicit(&s.acknowledged, memory_order_relaxed) < s.rolls_after)
		let_others();
	atomic_store_explicit(&s.rolls, true, memory_order_relaxed);
	stress_delay(&random);
	int err = weir_handle_rollback(s.handle);
	check(err == 0 || err == -ENOENT, "%s", weir_error_detail());
	s.returned = err == 0;
	check(!s.returned || s.rolls_after <= s.limit, "returned to a filter that refused a key");
	if (s.returned)
		return;
	check(weir_handle_rollback(s.handle) == -ENOENT, "returned to a void filter");
	free_void(&random);
}

static void work(void *shared, unsigned thread)
{
	(void)shared;
	s.flavor->register_thread();
	if (thread < s.inserters)
		insert(thread);
	else
		roll_back(thread);
	s.flavor->unregister_thread();
}

/* Check the keys: an acknowledged key has one copy, or two if a reload copied the filter during its
 * insert. A refused key has none. */
static void verify(void)
{
	const struct weir_filter *f = weir_handle_get(s.handle);
	uint64_t all = 0;
	for (unsigned thread = 0; thread < s.inserters; thread++)
		for (unsigned i = 0; i < KEYS_EACH; i++) {
			const int64_t n = bounded_count(f, hash_of(thread, i));
			const bool has = s.has[thread][i];
			check(n >= has && n <= has + (has && s.copied),
			      "key %u of thread %u: %" PRId64 " copies", i, thread, n);
			check(has || s.returned, "key %u of thread %u was refused", i, thread);
			totals.refused += !has;
			all += (uint64_t)n;
		}
	/* a copy during inserts reads the total before the counters, so the two may differ */
	check(s.copied || all == *bounded_word(f, 0), "%" PRIu64 " copies in all, %" PRIu64
	      " by counters", (uint64_t)*bounded_word(f, 0), all);
	totals.returned += s.returned;
	totals.voided += !s.returned;
}

static void run(const struct stress *given, uint64_t round)
{
	uint64_t random = given->seed + 1000 * round;
	const uint32_t keys = given->threads * KEYS_EACH;
	memset(&s, 0, sizeof s);
	s.flavor = flavor_named(given->flavor_name);
	s.inserters = given->threads;
	s.seed = random;
	s.limit = (uint32_t)(stress_random(&random) % keys);
	s.rolls_after = round % 2 ? s.limit + 1 :
	                s.limit - (uint32_t)(stress_random(&random) % (s.limit + 1) % BATCH);
	s.flavor->register_thread();
	s.handle = flavor_handle(s.flavor, 0, bounded_make(&bounded_removes, LINES, s.limit));
	check(weir_reload_commit(bounded_reload(s.handle, LINES, PLENTY, true)) == 0, "%s",
	      weir_error_detail());
	s.flavor->unregister_thread();
	stress_run(s.inserters + 1, work, NULL);
	s.flavor->register_thread();
	verify();
	check(weir_handle_destroy(s.handle) == 0, "%s", weir_error_detail());
	s.flavor->unregister_thread();
}

int main(int argc, char **argv)
{
	struct stress given = stress_read(argc, argv, 300000);
	const uint64_t rounds = given.operations / (given.threads * KEYS_EACH) + 1;
	check(given.threads * KEYS_EACH < COUNTERS, "--threads %u: too many", given.threads);
	for (uint64_t round = 0; round < rounds; round++)
		run(&given, round);
	printf("%s: %" PRIu64 " rounds of %u inserters: %" PRIu64 " filters void, %" PRIu64
	       " returned to, %" PRIu64 " inserts refused\n", given.flavor_name, rounds,
	       given.threads, totals.voided, totals.returned, totals.refused);
	check(totals.voided >= rounds / 2, "%" PRIu64 " filters void", totals.voided);
	return 0;
}
