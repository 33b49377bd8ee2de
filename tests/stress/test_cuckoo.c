/* SPDX-License-Identifier: MIT
 * Threads keep a cuckoo filter nearly full: each thread inserts and removes its own keys, so that
 * most inserts move keys of other threads. No key is used again after its removal.
 *
 * An inserted key is never missed and never counted too low, and each removal finds its copy. When
 * all keys are removed, no copy is left: no copy was lost, doubled or restored ([COPY-OWNER] to
 * [FULL-IF-QUIET] in src/kinds/cuckoo/move.h). Meanwhile one thread clones the filter, and each
 * clone has all keys that never leave. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "stress.h"

enum { HELD = 400, ALWAYS = 100 /* keys that stay from the beginning to the end */ };

struct house {
	struct weir_filter *f;
	uint64_t operations, seed;
	unsigned changers;
	atomic_uint changing;
	_Atomic uint64_t refused, lookups, copies;
};

static uint64_t hash_of(const struct house *h, unsigned thread, uint64_t i)
{
	return stress_hash(((h->seed * MOST_THREADS + thread) << 36) + i);
}

/* Insert and remove keys at random, so that this thread has about HELD / 2 keys in the filter. A
 * refusal must lose no key. */
static void change(struct house *h, unsigned thread)
{
	uint64_t held[HELD], next = ALWAYS, refused = 0, random = h->seed * MOST_THREADS + thread;
	memset(held, 0, sizeof held);
	for (uint64_t n = 0; n < h->operations; n++) {
		unsigned i = (unsigned)(stress_random(&random) % HELD);
		stress_delay(&random);
		if (held[i]) {
			check(weir_contains_hash(h->f, held[i]), "a key that is in is missed");
			check(weir_count_hash(h->f, held[i]) >= 1, "a key that is in counts 0");
			check(weir_remove_hash(h->f, held[i]) == 1, "%s", weir_error_detail());
			held[i] = 0;
		} else {
			held[i] = hash_of(h, thread, next++);
			int answer = weir_insert_hash(h->f, held[i]);
			check(answer >= 0 || answer == -ENOSPC, "%s", weir_error_detail());
			refused += answer < 0;
			if (answer < 0)
				held[i] = 0;
		}
		uint64_t always = hash_of(h, thread, stress_random(&random) % ALWAYS);
		check(weir_contains_hash(h->f, always), "a key that never leaves is missed");
	}
	for (unsigned i = 0; i < HELD; i++)
		check(!held[i] || weir_remove_hash(h->f, held[i]) == 1, "%s", weir_error_detail());
	atomic_fetch_add_explicit(&h->refused, refused, memory_order_relaxed);
	atomic_fetch_sub_explicit(&h->changing, 1, memory_order_release);
}

/* Look up the keys that stay, and clone the filter repeatedly. */
static void watch(struct house *h)
{
	uint64_t random = ~h->seed, lookups = 0, copies = 0;
	while (atomic_load_explicit(&h->changing, memory_order_acquire)) {
		struct weir_filter *copy = NULL;
		for (unsigned i = 0; i < 2000; i++, lookups++) {
			uint64_t r = stress_random(&random);
			uint64_t hash = hash_of(h, (unsigned)(r % h->changers), (r >> 8) % ALWAYS);
			check(weir_contains_hash(h->f, hash), "a key that never leaves is missed");
		}
		check(weir_clone(&copy, h->f) == 0, "%s", weir_error_detail());
		for (unsigned t = 0; t < h->changers; t++)
			for (uint64_t i = 0; i < ALWAYS; i++)
				check(weir_count_hash(copy, hash_of(h, t, i)) >= 1,
				      "a copy misses a key that never leaves");
		weir_destroy(copy);
		copies++;
	}
	atomic_store_explicit(&h->lookups, lookups, memory_order_relaxed);
	atomic_store_explicit(&h->copies, copies, memory_order_relaxed);
}

static void live(void *shared, unsigned thread)
{
	struct house *h = shared;
	if (thread < h->changers)
		change(h, thread);
	else
		watch(h);
}

static double used(const struct weir_filter *f)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	check(weir_measure(f, WEIR_EXACT, &stats) == 0, "%s", weir_error_detail());
	return stats.keys_estimated;
}

static void run(uint32_t bits, const struct stress *s)
{
	static struct house h;
	struct weir_params p = WEIR_PARAMS_INIT;
	double start = stress_seconds();
	memset(&h, 0, sizeof h);
	h.changers = s->threads, h.seed = s->seed;
	h.changing = s->threads;
	h.operations = s->operations / s->threads / 2;
	p.kind = WEIR_CUCKOO, p.cuckoo.fingerprint_bits = bits, p.seed = 7, p.fp_rate = 0.01;
	p.capacity = (ALWAYS + HELD / 2 - 10) * s->threads; /* a thread has HELD / 2 on average */
	check(weir_create(&h.f, &p) == 0, "%s", weir_error_detail());
	for (unsigned t = 0; t < s->threads; t++)
		for (uint64_t i = 0; i < ALWAYS; i++)
			check(weir_insert_hash(h.f, hash_of(&h, t, i)) >= 0, "%s",
			      weir_error_detail());
	stress_run(s->threads + 1, live, &h);
	check(fabs(used(h.f) - ALWAYS * s->threads) < 0.01, "%g copies are left of %u", used(h.f),
	      ALWAYS * s->threads);
	for (unsigned t = 0; t < s->threads; t++)
		for (uint64_t i = 0; i < ALWAYS; i++)
			check(weir_remove_hash(h.f, hash_of(&h, t, i)) == 1, "%s",
			      weir_error_detail());
	check(used(h.f) == 0, "%g copies are left of none", used(h.f));
	check(h.copies && h.lookups, "nobody watched");
	printf("cuckoo %u  %9" PRIu64 " changes by each of %u threads, %7" PRIu64 " refused, %9"
	       PRIu64 " lookups, %6" PRIu64 " copies, %5.1f s\n", bits, h.operations, s->threads,
	       (uint64_t)h.refused, (uint64_t)h.lookups, (uint64_t)h.copies,
	       stress_seconds() - start);
	weir_destroy(h.f);
}

int main(int argc, char **argv)
{
	struct stress s = stress_read(argc, argv, 2000000);
	run(12, &s);
	run(16, &s);
	return 0;
}
