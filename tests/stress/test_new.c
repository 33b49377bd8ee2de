/* SPDX-License-Identifier: MIT
 * Several threads insert the same new keys with words_per_key = 1 while another thread reloads by
 * copy. At least one thread gets WEIR_NEW for each key; without a reload exactly one thread does.
 * A commit replaces the filter whose bits decide whether a key is new, so a key that is
 * inserted during a commit may be new in both filters. The test prints the number of these keys.
 *
 * The filter is nearly empty, so that no key is found by chance. */
#include <sched.h>
#include <stdio.h>
#include "flavor.h"

enum { KEYS = 1000, TIMES_MORE = 50, CLOSE = 64 };

struct race {
	struct weir_handle *h;
	uint64_t first;    /* number of the round's first key */
	unsigned inserters;
	bool reloads;
	_Atomic uint64_t at[MOST_THREADS]; /* the next key of each inserter */
	atomic_uint inserting;
	atomic_uchar new[KEYS]; /* for each key, the number of threads that got WEIR_NEW */
	uint64_t commits;
};

/* Wait for slower inserters, so that inserters stay close together and meet. */
static void wait_for_others(const struct race *r, uint64_t i)
{
	for (unsigned t = 0; t < r->inserters; t++)
		while (atomic_load_explicit(&r->at[t], memory_order_relaxed) + CLOSE < i)
			sched_yield();
}

static void insert(struct race *r, unsigned thread)
{
	uint64_t random = r->first + thread;
	for (uint64_t i = 0; i < KEYS; i++) {
		wait_for_others(r, i);
		stress_delay(&random);
		int answer = weir_handle_insert_hash(r->h, stress_hash(r->first + i));
		check(answer >= 0, "%s", weir_error_detail());
		atomic_fetch_add_explicit(&r->new[i], (unsigned char)(answer == WEIR_NEW),
		                          memory_order_relaxed);
		atomic_store_explicit(&r->at[thread], i + 1, memory_order_relaxed);
	}
	atomic_fetch_sub_explicit(&r->inserting, 1, memory_order_relaxed);
}

static void reload(struct race *r)
{
	while (r->reloads && atomic_load_explicit(&r->inserting, memory_order_relaxed)) {
		struct weir_reload *next;
		int err = weir_reload_begin(&next, r->h, NULL);
		check(err == 0, "%s", weir_error_detail());
		err = weir_reload_copy(next, WEIR_ALL_SETS);
		check(err == 0, "%s", weir_error_detail());
		err = weir_reload_commit(next);
		check(err == 0, "%s", weir_error_detail());
		r->commits++;
	}
}

static void work(void *shared, unsigned thread)
{
	struct race *r = shared;
	if (thread == r->inserters)
		reload(r);
	else
		insert(r, thread);
}

static struct weir_filter *one_word_filter(void)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	p.capacity = (uint64_t)KEYS * TIMES_MORE;
	p.fp_rate = 0.001;
	p.blocked.words_per_key = 1;
	int err = weir_create(&f, &p);
	check(err == 0, "%s", weir_error_detail());
	return f;
}

/* Return: the number of keys that were new to more than one thread. */
static uint64_t run(struct race *r)
{
	uint64_t twice = 0;
	int err = weir_handle_create(&r->h, one_word_filter(), NULL);
	check(err == 0, "%s", weir_error_detail());
	atomic_store(&r->inserting, r->inserters);
	for (unsigned t = 0; t < r->inserters; t++)
		atomic_store(&r->at[t], 0);
	for (unsigned i = 0; i < KEYS; i++)
		atomic_store(&r->new[i], 0);
	stress_run(r->inserters + 1, work, r);
	for (unsigned i = 0; i < KEYS; i++) {
		unsigned new = atomic_load(&r->new[i]);
		check(new >= 1, "key %u is new to no thread", i);
		check(new == 1 || r->reloads, "key %u is new to %u threads", i, new);
		twice += new > 1;
	}
	err = weir_handle_destroy(r->h);
	check(err == 0, "%s", weir_error_detail());
	return twice;
}

int main(int argc, char **argv)
{
	static struct race r;
	struct stress s = stress_read(argc, argv, 1000000);
	uint64_t keys[2] = { 0 }, twice = 0;
	r.inserters = s.threads < 2 ? 2 : s.threads < MOST_THREADS ? s.threads : MOST_THREADS - 1;
	r.first = s.seed << 40;
	for (uint64_t n = 0; n < s.operations; n += KEYS * r.inserters, r.first += KEYS) {
		r.reloads = keys[1] <= 3 * keys[0];
		keys[r.reloads] += KEYS;
		twice += run(&r);
	}
	printf("%u threads: %llu keys without a reload, each new to one thread; %llu keys during "
	       "%llu reloads by copy, %llu of them new to more than one\n",
	       r.inserters, (unsigned long long)keys[0], (unsigned long long)keys[1],
	       (unsigned long long)r.commits, (unsigned long long)twice);
	return 0;
}
