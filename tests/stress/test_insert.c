/* SPDX-License-Identifier: MIT
 * Several threads insert the same fresh keys at the same moment, and others look up promised keys.
 *
 * No promised key is missed. For each new key at least one thread gets WEIR_NEW, unless other keys
 * have set all bits of the key. In layouts with one_new at most one thread gets WEIR_NEW. If the
 * bits do not depend on the order of inserts, they are those that one thread would have set. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "stress.h"

enum { ROUND = 4096, CHUNK = 32, BATCH = 7 };

struct contest {
	const struct layout *layout;
	struct weir_filter *f;
	uint64_t first; /* the number of this run's first key */
	uint64_t rounds;
	unsigned inserters;
	uint64_t seed;
	struct barrier chunk; /* inserters start each chunk together, so that they collide */
	struct barrier round; /* inserters wait here before and after the check of a round */
	/* for each thread: the number of keys whose inserts by that thread have returned */
	_Atomic uint64_t promised[MOST_THREADS];
	/* for each thread and each key of this round: 1 if the thread's insert returned WEIR_NEW */
	uint8_t answered_new[MOST_THREADS][ROUND];
	atomic_bool over;
	_Atomic uint64_t lookups;
	/* At the end of each round one thread inserts into this filter the keys that were new. */
	struct weir_filter *alone;
	uint64_t new_twice,   /* the number of keys that were new to two or more threads */
	         new_to_none; /* the number of keys that were new to no thread */
};

static void insert_one(struct contest *c, unsigned thread, uint64_t key)
{
	int answer = weir_insert_hash(c->f, stress_hash(c->first + key));
	check(answer == WEIR_NEW || answer == WEIR_SEEN, "answer %d", answer);
	c->answered_new[thread][key % ROUND] = answer == WEIR_NEW;
	/* Release: pairs with the acquire of reader(). Nothing else orders insert and lookup. */
	atomic_store_explicit(&c->promised[thread], key + 1, memory_order_release);
}

static void insert_batch(struct contest *c, unsigned thread, uint64_t key, unsigned n)
{
	uint64_t hashes[BATCH], bitmap = 0;
	for (unsigned i = 0; i < n; i++)
		hashes[i] = stress_hash(c->first + key + i);
	int64_t fresh = weir_insert_keys(c->f, weir_keys_hashes(hashes, n), &bitmap);
	check(fresh == __builtin_popcountll(bitmap), "%lld new, bitmap %#llx", (long long)fresh,
	      (unsigned long long)bitmap);
	for (unsigned i = 0; i < n; i++)
		c->answered_new[thread][(key + i) % ROUND] = bitmap >> i & 1;
	atomic_store_explicit(&c->promised[thread], key + n, memory_order_release);
}

static void insert_chunk(struct contest *c, unsigned thread, uint64_t key, uint64_t *random)
{
	unsigned n;
	barrier_wait(&c->chunk);
	for (unsigned i = 0; i < CHUNK; i += n) {
		n = CHUNK - i < BATCH ? CHUNK - i : BATCH;
		stress_delay(random);
		if (key / CHUNK % 4 == 3) { /* insert every fourth chunk in batches */
			insert_batch(c, thread, key + i, n);
		} else {
			n = 1;
			insert_one(c, thread, key + i);
		}
	}
}

/* Check the answers that the threads got in this round, while the other threads wait. */
static void judge_round(struct contest *c, uint64_t round)
{
	for (unsigned i = 0; i < ROUND; i++) {
		unsigned times = 0;
		for (unsigned t = 0; t < c->inserters; t++)
			times += c->answered_new[t][i];
		check(times <= 1 || !c->layout->row->one_new,
		      "%s: %u threads were answered WEIR_NEW for one key", c->layout->name, times);
		c->new_twice += times > 1;
		c->new_to_none += times == 0;
		if (times)
			(void)weir_insert_hash(c->alone, stress_hash(c->first + round * ROUND + i));
	}
	for (unsigned i = 0; i < ROUND; i++)
		/* which keys are found by chance depends on where earlier inserts have put their
		 * copies */
		check(c->layout->kind->copies ||
		              weir_contains_hash(c->alone,
		                                 stress_hash(c->first + round * ROUND + i)),
		      "%s: nobody was answered WEIR_NEW for a new key, round %llu", c->layout->name,
		      (unsigned long long)round);
}

static void inserter(struct contest *c, unsigned thread)
{
	uint64_t random = c->seed * MOST_THREADS + thread;
	for (uint64_t round = 0; round < c->rounds; round++) {
		for (unsigned i = 0; i < ROUND; i += CHUNK)
			insert_chunk(c, thread, round * ROUND + i, &random);
		barrier_wait(&c->round);
		if (thread == 0)
			judge_round(c, round);
		barrier_wait(&c->round);
	}
	atomic_store_explicit(&c->over, true, memory_order_relaxed);
}

/* Newly promised keys are most likely to be missed, so three of four lookups are for them. */
static void reader(struct contest *c, unsigned thread)
{
	uint64_t random = ~(c->seed * MOST_THREADS + thread), lookups = 0;
	while (!atomic_load_explicit(&c->over, memory_order_relaxed)) {
		uint64_t r = stress_random(&random);
		unsigned of = (unsigned)(r % c->inserters);
		uint64_t promised = atomic_load_explicit(&c->promised[of], memory_order_acquire);
		stress_delay(&random);
		if (!promised)
			continue;
		uint64_t key = r >> 32 & 3 ?
		                       promised - 1 - (r >> 34) % (promised < 4 ? promised : 4) :
		                       (r >> 34) % promised;
		check(weir_contains_hash(c->f, stress_hash(c->first + key)),
		      "%s: key %llu of %llu promised by thread %u is missed", c->layout->name,
		      (unsigned long long)key, (unsigned long long)promised, of);
		if (++lookups % 256 == 0)
			sched_yield(); /* leave the core to the inserters */
	}
	atomic_fetch_add_explicit(&c->lookups, lookups, memory_order_relaxed);
}

static void contestant(void *shared, unsigned thread)
{
	struct contest *c = shared;
	if (thread < c->inserters)
		inserter(c, thread);
	else
		reader(c, thread);
}

/* Return: the number of keys that were new to two threads or more. In layouts that allow this, the
 * number shows how often the threads met. */
static uint64_t run(const struct layout *layout, const struct stress *s, uint64_t inserts)
{
	static struct contest c;
	uint64_t *words, *words_alone;
	size_t bytes;
	double start = stress_seconds();
	memset(&c, 0, sizeof c);
	c.layout = layout;
	c.inserters = s->threads;
	c.chunk.threads = c.round.threads = s->threads;
	c.rounds = inserts / ROUND / s->threads + 1;
	c.seed = s->seed;
	c.first = (s->seed * stress_layouts() + layout->number) << 40;
	/* the number of copies of a key in c.f */
	unsigned times = layout->kind->copies ? s->threads : 1;
	c.f = stress_filter(layout, c.rounds * ROUND * 5 / 4 * times, &words, &bytes);
	c.alone = stress_filter(layout, c.rounds * ROUND * 5 / 4, &words_alone, &bytes);
	stress_run(s->threads + 1, contestant, &c);
	/* counters count every insert of a key, and in a growing filter the layer of a key depends
	 * on the time of its insert */
	check(!layout->kind->reference.bits || layout->kind->grows ||
	              memcmp(words, words_alone, bytes) == 0,
	      "%s: the bits are not those that one thread sets", layout->name);
	stress_check_fill(c.f);
	check(c.new_to_none < c.rounds * ROUND / 20, "%s: too many keys were there by chance",
	      layout->name);
	check(c.lookups, "%s: no lookup", layout->name);
	printf("%-16s %9llu inserts by %u threads, %9llu lookups, %6llu keys new twice, %6llu "
	       "covered, %5.1f s\n",
	       layout->name, (unsigned long long)(c.rounds * ROUND * s->threads), s->threads,
	       (unsigned long long)c.lookups, (unsigned long long)c.new_twice,
	       (unsigned long long)c.new_to_none, stress_seconds() - start);
	weir_destroy(c.f);
	weir_destroy(c.alone);
	free(words);
	free(words_alone);
	return c.new_twice;
}

int main(int argc, char **argv)
{
	struct stress s = stress_read(argc, argv, 10000000);
	uint64_t met = 0;
	for (size_t i = 0; i < stress_layouts(); i++) {
		struct layout layout = stress_layout(i);
		met += run(&layout, &s, s.operations / stress_layouts());
	}
	check(met || sysconf(_SC_NPROCESSORS_ONLN) < 2,
	      "the inserts of the threads never met: this run shows nothing");
	return 0;
}
