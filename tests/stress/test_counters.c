/* SPDX-License-Identifier: MIT
 * Filters of counters under threads. Each thread inserts its own keys and removes them again, and
 * words are shared by several threads. An inserted key is never missed and never counted too low.
 * When all keys are removed, every counter is 0: no change was lost, halved or doubled
 * ([COUNT-IS-SUM], [PAIRED-REMOVAL] in src/kinds/counting/counting.c). In the frequency kind only
 * the counts are tested ([COUNT-AT-LEAST]). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "../kinds/can.h"
#include "stress.h"

enum { HELD = 64, MOST_TIMES = 200 /* 8 bits count to 255 */ };

struct round {
	struct weir_filter *f;
	const char *name;
	bool removes;
	uint64_t operations, seed;
	_Atomic uint64_t lookups;
};

/* The keys that a thread has inserted, and the number of inserts of each key. */
struct holder {
	struct round *round;
	uint64_t first, next, random;
	struct { uint64_t hash; int64_t times; } held[HELD];
};

static void verify(const struct holder *h, unsigned i)
{
	const struct round *r = h->round;
	int64_t count = weir_count_hash(r->f, h->held[i].hash);
	check(weir_contains_hash(r->f, h->held[i].hash), "%s: a key that is in is missed", r->name);
	check(count >= h->held[i].times || count == WEIR_COUNT_FULL,
	      "%s: a key that is in %" PRId64 " times is counted %" PRId64, r->name,
	      h->held[i].times, count);
}

static void take_out(struct holder *h, unsigned i)
{
	for (; h->held[i].times; h->held[i].times--)
		check(weir_remove_hash(h->round->f, h->held[i].hash) == 1,
		      "%s: a key that is in cannot be removed: %s", h->round->name,
		      weir_error_detail());
}

static void put_in(struct holder *h, unsigned i)
{
	if (!h->held[i].times)
		h->held[i].hash = stress_hash(h->first + h->next++);
	for (uint64_t n = stress_random(&h->random) % 4 + 1; n; n--, h->held[i].times++)
		check(weir_insert_hash(h->round->f, h->held[i].hash) >= 0, "%s: an insert failed",
		      h->round->name);
}

static void hold(void *shared, unsigned thread)
{
	struct round *r = shared;
	struct holder h = { .round = r, .first = (r->seed * MOST_THREADS + thread) << 32,
		            .random = r->seed + thread };
	uint64_t lookups = 0;
	for (uint64_t n = 0; n < r->operations; n++) {
		unsigned i = (unsigned)(stress_random(&h.random) % HELD);
		if (h.held[i].times && r->removes)
			take_out(&h, i);
		if (h.held[i].times < MOST_TIMES)
			put_in(&h, i);
		i = (unsigned)(stress_random(&h.random) % HELD);
		if (h.held[i].times)
			verify(&h, i), lookups++;
	}
	for (unsigned i = 0; i < HELD; i++) {
		if (h.held[i].times)
			verify(&h, i);
		if (r->removes)
			take_out(&h, i);
	}
	atomic_fetch_add_explicit(&r->lookups, lookups, memory_order_relaxed);
}

/* Run with a filter so small that each word has keys of every thread. */
static void run(uint32_t kind, uint32_t bits, uint32_t z, const struct stress *s)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	static struct round r;
	char name[40];
	test_ask_counters(&p, kind, bits, z, 0);
	p.capacity = 4 * HELD * s->threads, p.fp_rate = 0.01, p.seed = 3;
	snprintf(name, sizeof name, "%s %u bits z=%u", weir_kind_name(kind), bits, z);
	memset(&r, 0, sizeof r);
	r.name = name, r.removes = kind == WEIR_COUNTING;
	r.operations = r.removes ? s->operations / s->threads / 24 : HELD * MOST_TIMES / 2;
	r.seed = s->seed;
	check(weir_create(&r.f, &p) == 0, "%s: %s", name, weir_error_detail());
	stress_run(s->threads, hold, &r);
	struct weir_stats stats = WEIR_STATS_INIT;
	check(weir_measure(r.f, WEIR_EXACT, &stats) == 0, "%s: %s", name, weir_error_detail());
	check(!r.removes || stats.counters_stuck || stats.fill == 0,
	      "%s: all keys are out, and %g of the counters are not 0", name, stats.fill);
	check(!r.removes || bits == 4 || !stats.counters_stuck,
	      "%s: %" PRIu64 " counters are full", name, stats.counters_stuck);
	printf("%-24s %9" PRIu64 " changes by each of %u threads, %9" PRIu64 " lookups\n", name,
	       r.operations, s->threads, (uint64_t)r.lookups);
	weir_destroy(r.f);
}

int main(int argc, char **argv)
{
	struct stress s = stress_read(argc, argv, 2000000);
	for (uint32_t bits = 4; bits <= 32; bits *= 2)
		for (uint32_t z = 1; z <= 8; z *= 2) {
			if (bits <= 16)
				run(WEIR_COUNTING, bits, z, &s);
			if (bits >= 8)
				run(WEIR_FREQUENCY, bits, z, &s);
		}
	return 0;
}
