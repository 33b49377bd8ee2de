/* SPDX-License-Identifier: MIT
 * Threads insert their own keys into one growing filter, one by one and in batches. They look up
 * each key at once, and keys that other threads have announced. The first layer is small. No key is
 * missed, no layer is overfilled, and the rate holds. Arguments: keys of a thread, rounds. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/weir.h>

enum { THREADS = 4, BATCH = 256, PROBES = 200000 };

static struct weir_filter *f;
static uint64_t keys_each, round_now;
static _Atomic uint64_t done[THREADS]; /* number of inserted keys: stored with release order */
static _Atomic uint64_t missed, failed;

static uint64_t hash_of(uint64_t thread, uint64_t i) /* splitmix64 (Steele, Lea, Flood 2014) */
{
	uint64_t x = (round_now << 56 | thread << 48 | i) * UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

static void check(uint64_t thread, uint64_t i)
{
	if (!weir_contains_hash(f, hash_of(thread, i)))
		atomic_fetch_add(&missed, 1);
}

static void note(int64_t answer)
{
	if (answer < 0 && atomic_fetch_add(&failed, 1) == 0)
		fprintf(stderr, "%s\n", weir_error_detail());
}

static uint64_t insert_some(uint64_t thread, uint64_t at)
{
	uint64_t hashes[BATCH], n = at / BATCH % 2 ? BATCH : 1;
	if (n > keys_each - at)
		n = keys_each - at;
	for (uint64_t i = 0; i < n; i++)
		hashes[i] = hash_of(thread, at + i);
	note(n == 1 ? weir_insert_hash(f, hashes[0]) :
	              weir_insert_keys(f, weir_keys_hashes(hashes, n), NULL));
	for (uint64_t i = 0; i < n; i++)
		check(thread, at + i);
	return at + n;
}

static void *run(void *number)
{
	uint64_t thread = (uint64_t)(uintptr_t)number, random = thread;
	for (uint64_t at = 0; at < keys_each;) {
		at = insert_some(thread, at);
		atomic_store_explicit(&done[thread], at, memory_order_release);
		uint64_t other = hash_of(99, random++) % THREADS;
		uint64_t there = atomic_load_explicit(&done[other], memory_order_acquire);
		if (there) {
			check(other, there - 1);
			check(other, hash_of(98, random) % there);
		}
	}
	return NULL;
}

static int judge(double fp_rate)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	uint64_t found = 0;
	for (uint64_t thread = 0; thread < THREADS; thread++)
		for (uint64_t i = 0; i < keys_each; i++)
			check(thread, i);
	for (uint64_t i = 0; i < PROBES; i++)
		found += weir_contains_hash(f, hash_of(77, i));
	if (weir_measure(f, WEIR_EXACT, &stats))
		return 1;
	double rate = (double)found / PROBES;
	printf("%llu keys, %llu missed, %llu failed, rate %.5f of %.5f, %.1f bits a key\n",
	       (unsigned long long)(THREADS * keys_each), (unsigned long long)missed,
	       (unsigned long long)failed, rate, fp_rate,
	       8 * (double)stats.bytes / (double)(THREADS * keys_each));
	return missed || failed || rate > 1.1 * fp_rate || stats.saturated;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int bad = 0;
	keys_each = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
	uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	for (round_now = 0; round_now < rounds && !bad; round_now++) {
		struct weir_params params = WEIR_PARAMS_INIT;
		params.kind = WEIR_GROWING;
		/* eight layers hold 21,845 times as many keys as the first layer, which suffices */
		params.capacity = round_now % 2 ? 4 * keys_each / 20000 + 64 :
		                                  4 * keys_each / 300 + 1;
		params.growing.max_capacity = round_now % 2 ? 0 : 4 * keys_each;
		params.fp_rate = 0.01;
		params.growing.words_per_key = round_now % 4 == 3 ? 1 : 0;
		if (weir_create(&f, &params)) {
			fprintf(stderr, "%s\n", weir_error_detail());
			return 1;
		}
		for (unsigned i = 0; i < THREADS; i++)
			done[i] = 0;
		for (uintptr_t i = 0; i < THREADS; i++)
			if (pthread_create(&threads[i], NULL, run, (void *)i))
				return 1;
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		bad = judge(params.fp_rate);
		weir_destroy(f);
	}
	return bad;
}
