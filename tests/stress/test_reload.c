/* SPDX-License-Identifier: MIT
 * Threads insert into a handle and look up promised keys, in every form that a handle takes.
 * Another thread reloads the handle in every way: from the source, by copy, from an image of its
 * own set; it also aborts, rolls back, and drops the previous filter. In every second round most
 * reloads choose another seed. A key whose insert has returned may never be missed.
 *
 * Each round has a new handle and fresh keys. An inserter records keys, inserts them, then promises
 * them. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>
#include "forms.h"
#include "loader.h"

enum { KEYS_EACH = 20000, MANY_ROUNDS = 20, SELDOM = 32 };

static void add(const struct reloads *s, struct keys *k, unsigned thread, uint64_t i)
{
	keys_add(k, reload_key(s, thread, i), reload_hash(s, thread, i));
}

/* Return: a form that the handle accepts. A handle that accepts any seed refuses hashes. For such a
 * handle, a form that passes hashes becomes the same form with keys. */
static enum form by_key(const struct reloads *s, enum form form)
{
	bool hashes = s->reseeds && (form == EACH_HASH || form == HASHES);
	return hashes ? form + 1 : form; /* EACH_KEY and KEYS */
}

/* Choose the next keys: usually one, rarely a batch, so that half of all keys come in batches. */
static enum form next_keys(const struct reloads *s, unsigned thread, uint64_t first, struct keys *k,
                           uint64_t *random)
{
	uint64_t r = stress_random(random), left = s->keys - first;
	uint64_t n = r % SELDOM ? 1 : 1 + (r >> 8) % MOST_KEYS;
	k->n = 0;
	for (uint64_t i = 0; i < n && i < left; i++)
		add(s, k, thread, first + i);
	return by_key(s, r % SELDOM ? (enum form)(r >> 16) % HASHES :
	                              HASHES + (enum form)(r >> 16) % (FORMS - HASHES));
}

static void insert(struct reloads *s, unsigned thread)
{
	uint64_t random = s->first + thread, in_batches = 0;
	struct keys k;
	for (uint64_t i = 0; i < s->keys; i += k.n) {
		enum form form = next_keys(s, thread, i, &k, &random);
		stress_delay(&random);
		/* Release: the loader that reads the record sees everything written before.
		 * Otherwise it could read a key that is not written yet. */
		atomic_store_explicit(&s->recorded[thread], i + k.n, memory_order_release);
		stress_delay(&random);
		keys_insert(s->handle, &k, form);
		/* Release: orders the insert before every lookup of a thread that reads the
		 * promise. */
		atomic_store_explicit(&s->promised[thread], i + k.n, memory_order_release);
		unsigned found = keys_found(s->handle, &k, form);
		check(found == k.n, "of %u keys from %llu on of thread %u their inserter misses %u",
		      k.n, (unsigned long long)i, thread, k.n - found);
		in_batches += form >= HASHES ? k.n : 0;
		s->flavor->read_quiescent_state();
	}
	atomic_fetch_add_explicit(&s->in_batches, in_batches, memory_order_relaxed);
	atomic_fetch_sub_explicit(&s->inserting, 1, memory_order_relaxed);
}

/* Choose MOST_KEYS of an inserter's promised keys: half are among the newest, the rest random. */
static void choose(const struct reloads *s, unsigned inserter, uint64_t *random, struct keys *k)
{
	uint64_t promised = atomic_load_explicit(&s->promised[inserter], memory_order_acquire);
	k->n = 0;
	for (unsigned i = 0; i < MOST_KEYS && promised; i++) {
		uint64_t back = i % 2 ? i : stress_random(random);
		add(s, k, inserter, promised - 1 - back % promised);
	}
}

/* Look up in a section, with delays during which a reload may try to free the filter. */
static unsigned found_in_section(const struct reloads *s, const struct keys *k, uint64_t *random)
{
	unsigned found = 0;
	s->flavor->read_lock();
	const struct weir_filter *f = weir_handle_get(s->handle);
	for (unsigned i = 0; i < k->n; i++) {
		stress_delay(random);
		found += s->reseeds ? weir_contains(f, &k->numbers[i], sizeof k->numbers[i]) :
		                      weir_contains_hash(f, k->hashes[i]);
	}
	flavor_read_unlock(s->flavor);
	return found;
}

/* Check that the handle's figures never decrease for a thread that reads them. */
static void measure(const struct reloads *s, struct weir_handle_stats *last)
{
	struct weir_handle_stats now = WEIR_HANDLE_STATS_INIT;
	struct weir_stats current = WEIR_STATS_INIT;
	int err = weir_handle_measure(s->handle, &now, &current);
	check(err == 0, "%s", weir_error_detail());
	check(now.generation >= last->generation && now.swaps >= last->swaps,
	      "generation %llu after %llu, %llu swaps after %llu",
	      (unsigned long long)now.generation, (unsigned long long)last->generation,
	      (unsigned long long)now.swaps, (unsigned long long)last->swaps);
	check(now.age >= 0 && now.bytes >= current.bytes,
	      "%f s old, %llu bytes with a filter of %llu", now.age, (unsigned long long)now.bytes,
	      (unsigned long long)current.bytes);
	*last = now;
}

static void look(struct reloads *s, unsigned thread)
{
	uint64_t random = s->first + thread, lookups = 0, measured = 0;
	struct weir_handle_stats last = WEIR_HANDLE_STATS_INIT;
	struct keys k;
	while (atomic_load_explicit(&s->inserting, memory_order_relaxed)) {
		uint64_t r = stress_random(&random);
		unsigned inserter = (unsigned)(r % s->inserters);
		enum form form = by_key(s, (enum form)(r >> 16) % (FORMS + 1));
		choose(s, inserter, &random, &k);
		unsigned found = form == FORMS ? found_in_section(s, &k, &random) :
		                                 keys_found(s->handle, &k, form);
		check(found == k.n, "%u of %u promised keys of thread %u are missed", k.n - found,
		      k.n, inserter);
		lookups += k.n;
		if ((r >> 8) % SELDOM == 0) {
			measure(s, &last);
			measured++;
		}
		s->flavor->read_quiescent_state();
		/* with more threads than cores, lookups would leave reloads and inserts little
		 * time to meet */
		sched_yield();
	}
	atomic_fetch_add_explicit(&s->lookups, lookups, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->measured, measured, memory_order_relaxed);
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

/* Check that every inserted key is in the filter that the last reload left. */
static void check_all(struct reloads *s)
{
	s->flavor->register_thread();
	for (unsigned t = 0; t < s->inserters; t++)
		for (uint64_t i = 0; i < s->keys; i++) {
			uint64_t key = reload_key(s, t, i);
			check(weir_handle_contains(s->handle, &key, sizeof key),
			      "key %llu of thread %u is missed in the end", (unsigned long long)i,
			      t);
		}
	stress_check_fill(weir_handle_get(s->handle));
	s->flavor->unregister_thread();
}

static void round_of(struct reloads *s, const struct layout *layout, const struct stress *options,
                     uint64_t number)
{
	s->keys = KEYS_EACH;
	s->inserters = options->threads;
	s->first = (options->seed << 24 | number) << 24;
	s->reseeds = number & 1;
	s->saves = !layout->kind->reference.remove || layout->kind->copies;
	atomic_store(&s->inserting, options->threads);
	for (unsigned t = 0; t < options->threads; t++) {
		atomic_store(&s->recorded[t], 0);
		atomic_store(&s->promised[t], 0);
	}
	s->hasher = stress_filter(layout, 1000, NULL, NULL);
	const bool routes = weir_kind_can(layout->kind->id, WEIR_CAN_ROUTE);
	s->other_kind = !routes && weir_hash(s->hasher, "", 0) == weir_hash_seeded(1, "", 0) ?
	                WEIR_BLOCKED : layout->kind->id;
	s->handle = flavor_handle(s->flavor, s->reseeds ? WEIR_HANDLE_ANY_SEED : 0,
	                          stress_filter(layout, reload_capacity(s), NULL, NULL));
	stress_run(options->threads * 2 + 1, work, s);
	check_all(s);
	int err = weir_handle_destroy(s->handle);
	check(err == 0, "%s", weir_error_detail());
	weir_destroy(s->hasher);
}

static void report(const struct reloads *s, uint64_t inserts, uint64_t rounds, double seconds)
{
	printf("%llu inserts (%llu in batches) and %llu lookups in %llu rounds, %llu times "
	       "measured, %.1f s\n",
	       (unsigned long long)inserts, (unsigned long long)s->in_batches,
	       (unsigned long long)s->lookups, (unsigned long long)rounds,
	       (unsigned long long)s->measured, seconds);
	check((s->in_batches && s->measured) || rounds < MANY_ROUNDS,
	      "no batch was inserted, or nothing measured");
	for (unsigned i = 0; i < RELOAD_ACTIONS; i++) {
		printf("%s %llu", i ? "," : "", (unsigned long long)s->done[i]);
		printf(" %s", reload_action_names[i]);
		check(s->done[i] || rounds < MANY_ROUNDS,
		      "no %s happened: the test did not do all that it promises",
		      reload_action_names[i]);
	}
	printf("\n");
}

/* Return: true if the test must run more rounds: after MANY_ROUNDS rounds, some action of the
 * loader has not happened yet. This happens on slow machines. */
static bool goes_on(const struct reloads *s, uint64_t rounds)
{
	bool missing = false;
	for (unsigned i = 0; i < RELOAD_ACTIONS; i++)
		missing |= !s->done[i];
	return missing && rounds >= MANY_ROUNDS && rounds < 10 * MANY_ROUNDS;
}

/* Collect the layouts whose kind can be cloned, because reloads copy. Return: their number. */
static size_t copied_layouts(struct layout layouts[MOST_LAYOUTS])
{
	size_t n = 0;
	for (size_t i = 0; i < stress_layouts(); i++) {
		struct layout layout = stress_layout(i);
		if (layout.kind->copies) /* a key that is loaded and inserted takes two slots */
			continue;
		struct weir_filter *f = stress_filter(&layout, 1000, NULL, NULL), *copy = NULL;
		int err = weir_clone(&copy, f);
		check((err == 0 || err == -ENOTSUP) && n < MOST_LAYOUTS, "%d: %s", err,
		      weir_error_detail());
		if (err == 0)
			layouts[n++] = layout;
		weir_destroy(f);
		weir_destroy(copy);
	}
	return n;
}

int main(int argc, char **argv)
{
	struct stress options = stress_read(argc, argv, 10000000);
	static struct reloads s;
	double start = stress_seconds();
	uint64_t rounds = 0, inserts = 0;
	s.flavor = options.flavor = flavor_named(options.flavor_name);
	struct layout layouts[MOST_LAYOUTS];
	size_t n = copied_layouts(layouts);
	snprintf(s.image, sizeof s.image, "%s/weir-stress-%d.weir",
	         access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
	for (; inserts + s.lookups < options.operations || goes_on(&s, rounds); rounds++) {
		round_of(&s, &layouts[rounds % n], &options, rounds);
		inserts += s.keys * options.threads;
	}
	unlink(s.image);
	report(&s, inserts, rounds, stress_seconds() - start);
	return 0;
}
