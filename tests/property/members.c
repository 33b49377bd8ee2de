/* SPDX-License-Identifier: MIT
 * Every key of every build is found. The builds cover the layouts of each kind, each instruction
 * set for which this machine has a kernel, from 1 to 100,003 keys (2 million unless the run is
 * short; 14 million in a slow run), and arrays of more than 2^32 bits. Up to 100,003 keys, each of
 * four ways to insert runs with 1 thread and with 2 threads. A filter that answers true to
 * everything would pass, so the test also looks up a few absent keys. rate.c measures the rate of
 * false positives. */
#include <errno.h>
#include <pthread.h>
#include "../test.h"
#include "../kinds/kind.h"

enum { PIECE = 1000, MOST_THREADS = 2, ABSENT = 20000 };
enum way { ONE_BY_ONE, FIXED, HASHES, LOAD, WAYS };
static const char *const way_names[WAYS] = { "weir_insert, _u64", "weir_insert_keys of numbers",
                                             "weir_insert_keys of hashes", "weir_fill_keys" };
static const char *const isas[] = { "scalar", "neon", "avx2", "avx512" };
static bool slow;

struct build {
	const struct test_kind *kind;
	const struct test_layout *layout;
	enum way way;
	unsigned threads;
	uint64_t n,         /* the number of keys */
	         max_bytes; /* the filter's size; 0: the size that n keys need at a rate of 1 % */
	struct weir_filter *f;
	uint64_t *keys, *hashes;
	pthread_barrier_t barrier;
};

struct worker {
	struct build *build;
	unsigned number;
	uint64_t missing, refused;
};

/* ---- filling ---- */

static void fill(struct worker *w, uint64_t first, uint64_t n)
{
	struct build *b = w->build;
	const struct weir_keys hashes = weir_keys_hashes(b->hashes + first, n);
	switch (b->way) {
	case ONE_BY_ONE:
		for (uint64_t i = first; i < first + n; i++) {
			/* Look up the key at once: an inserted number as bytes, and inserted bytes
			 * as a number. The end of the test looks up all keys again. */
			const uint64_t *key = &b->keys[i];
			w->refused += (i % 2 ? weir_insert(b->f, key, 8) :
			                       weir_insert_u64(b->f, *key)) < 0;
			w->missing += !(i % 2 ? weir_contains_u64(b->f, *key) :
			                        weir_contains(b->f, key, 8));
		}
		return;
	case FIXED:
		for (uint64_t i = 0, count; i < n; i += count) {
			count = n - i < PIECE ? n - i : PIECE;
			const struct weir_keys some = weir_keys_u64(b->keys + first + i, count);
			w->refused += weir_insert_keys(b->f, some, NULL) < 0;
			w->missing += count - weir_contains_keys(b->f, some, NULL);
		}
		return;
	case HASHES:
		w->refused += weir_insert_keys(b->f, hashes, NULL) < 0;
		w->missing += n - weir_contains_keys(b->f, hashes, NULL);
		return;
	default: /* a bulk load needs a private filter, so look up when all threads are done */
		w->refused += weir_fill_keys(b->f, hashes) != 0;
	}
}

/* The shares of the two threads overlap by a quarter of all keys, so that both threads insert some
 * keys at the same time. */
static void *work(void *arg)
{
	struct worker *w = arg;
	struct build *b = w->build;
	uint64_t first = w->number ? 3 * b->n / 8 : 0,
	         end = b->threads == 1 || w->number ? b->n : b->n - 3 * b->n / 8;
	pthread_barrier_wait(&b->barrier);
	fill(w, first, end - first);
	pthread_barrier_wait(&b->barrier);
	w->missing += b->n;
	const struct weir_keys all = w->number ? weir_keys_hashes(b->hashes, b->n) :
	                                         weir_keys_u64(b->keys, b->n);
	w->missing -= weir_contains_keys(b->f, all, NULL);
	for (uint64_t i = 0; i < b->n; i += b->n > 200000 ? 17 : 1)
		w->missing += !weir_contains_hash(b->f, b->hashes[i]);
	return NULL;
}

/* ---- one build ---- */

static uint64_t absent_found(const struct build *b)
{
	uint64_t found = 0;
	for (uint64_t i = b->n; i < b->n + ABSENT; i++) {
		uint64_t key = test_key(i);
		found += weir_contains(b->f, &key, 8);
	}
	return found;
}

static void run_threads(struct build *b)
{
	pthread_t threads[MOST_THREADS];
	struct worker workers[MOST_THREADS] = { { 0 } };
	uint64_t missing = 0, refused = 0;
	pthread_barrier_init(&b->barrier, NULL, b->threads);
	for (unsigned t = 0; t < b->threads; t++) {
		workers[t] = (struct worker){ .build = b, .number = t };
		assert_int_equal(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
	}
	for (unsigned t = 0; t < b->threads; t++) {
		pthread_join(threads[t], NULL);
		missing += workers[t].missing;
		refused += workers[t].refused;
	}
	pthread_barrier_destroy(&b->barrier);
	if (missing || refused)
		fail_msg("%s, %s, %s, %u threads, %llu keys, %llu bytes: %llu lookups missed a "
		         "key, %llu inserts were refused",
		         b->layout->name, getenv("WEIR_ISA"), way_names[b->way], b->threads,
		         (unsigned long long)b->n, (unsigned long long)b->max_bytes,
		         (unsigned long long)missing, (unsigned long long)refused);
}

static void build(struct build b)
{
	struct weir_params params = test_params(b.kind, &b.layout->ask);
	/* If both threads insert a key, the filter may store two copies. A window has up to 16
	 * generations, and without an advance all keys enter one of them. */
	params.capacity = b.kind->copies ? 2 * b.n : test_forgets(b.kind->id) ? 16 * b.n : b.n;
	params.fp_rate = b.max_bytes ? 0 : 0.01,
	params.max_bytes = b.max_bytes;
	params.seed = test_seed(b.kind->id, b.n + b.threads);
	assert_ok(weir_create(&b.f, &params));
	b.keys = malloc(8 * b.n), b.hashes = malloc(8 * b.n);
	assert_true(b.keys && b.hashes);
	for (uint64_t i = 0; i < b.n; i++)
		b.keys[i] = test_key(i);
	weir_hash_keys(b.f, weir_keys_u64(b.keys, b.n), b.hashes);
	run_threads(&b);
	/* 1 % is expected, which is 14 standard deviations below the limit. With few keys a block
	 * may be so full that it doubles the rate. */
	if (absent_found(&b) >= (b.n < 100 ? ABSENT / 10 : ABSENT / 50))
		fail_msg("%s: of %u absent keys beside %llu %llu are answered true",
		         b.layout->name, ABSENT, (unsigned long long)b.n,
		         (unsigned long long)absent_found(&b));
	free(b.keys), free(b.hashes);
	weir_destroy(b.f);
}

/* ---- all builds ---- */

static bool have(const char *isa)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	params.capacity = 1, params.fp_rate = 0.1;
	setenv("WEIR_ISA", isa, 1);
	int err = weir_create(&f, &params);
	/* -ENOTSUP: the machine lacks this instruction set */
	if (err != -ENOTSUP)
		assert_ok(err);
	weir_destroy(f);
	return err == 0;
}

/* Return: true if the layout has a kernel for the instruction set. Otherwise the layout uses the
 * kernel of another instruction set, and the run for that instruction set tests the layout. */
static bool has_kernel(const struct build *b)
{
	struct weir_params params = test_params(b->kind, &b->layout->ask);
	struct weir_stats stats = WEIR_STATS_INIT;
	struct weir_filter *f = NULL;
	params.capacity = b->n, params.fp_rate = 0.01;
	assert_ok(weir_create(&f, &params));
	assert_ok(weir_measure(f, WEIR_SAMPLED, &stats));
	weir_destroy(f);
	return strcmp(stats.isa, getenv("WEIR_ISA")) == 0;
}

/* For a kind without inserts, check a filter built from all keys. Return: false for other kinds. */
static bool built_at_once(struct build b)
{
	struct weir_params params = test_params(b.kind, &b.layout->ask);
	params.capacity = b.n, params.fp_rate = 0.01;
	params.seed = test_seed(b.kind->id, b.n);
	assert_ok(weir_create(&b.f, &params));
	if (test_takes_inserts(b.f)) {
		weir_destroy(b.f);
		return false;
	}
	b.keys = malloc(8 * b.n), b.hashes = malloc(8 * b.n);
	assert_true(b.keys && b.hashes);
	for (uint64_t i = 0; i < b.n; i++)
		b.keys[i] = test_key(i);
	weir_hash_keys(b.f, weir_keys_u64(b.keys, b.n), b.hashes);
	assert_ok(test_fill(&b.f, b.hashes, b.n));
	assert_int_equal(weir_contains_keys(b.f, weir_keys_hashes(b.hashes, b.n), NULL), b.n);
	assert_int_equal(weir_contains_keys(b.f, weir_keys_u64(b.keys, b.n), NULL), b.n);
	assert_true(absent_found(&b) < ABSENT / 50);
	free(b.keys), free(b.hashes);
	weir_destroy(b.f);
	return true;
}

/* Run each way to insert with 1 thread and with 2 threads. Above a million keys (ten million in a
 * slow run) each way runs only once, with 1 or 2 threads. Return: the number of builds. */
static unsigned builds_of(struct build b, unsigned odd)
{
	unsigned builds = 0;
	if (!has_kernel(&b))
		return 0;
	if (built_at_once(b))
		return 1;
	for (unsigned way = 0; way < WAYS; way++)
		for (unsigned threads = 1; threads <= MOST_THREADS; threads++) {
			if (b.n > (slow ? 10000000 : 1000000) && (way + odd) % 2 + 1 != threads)
				continue;
			b.way = way, b.threads = threads;
			build(b);
			builds++;
		}
	return builds;
}

static void every_key_of_every_build(void **state)
{
	static const uint64_t sizes[] = { 1,  2,    3,    7,      8,       63,      64,
	                                  65, 1000, 4097, 100003, 2000003, 14000029 };
	unsigned builds = 0;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(isas); i++) {
		if (!have(isas[i]))
			continue;
		for (size_t s = 0; s < COUNT_OF(sizes) - !slow - test_is_short(); s++)
			FOR_EACH_KIND(kind)
				for (size_t l = 0; l < kind->layouts.n; l++)
					builds += builds_of(
						(struct build){ .kind = kind,
						                .layout = &kind->layouts.rows[l],
						                .n = sizes[s] },
						(unsigned)l);
		print_message("%s: every key found in %u builds so far\n", isas[i], builds);
	}
	assert_true(builds > 0);
	unsetenv("WEIR_ISA");
}

/* Bit and byte offsets exceed 32 bits, because the keys spread over 542 MB. Under the first
 * instruction set, and in a slow run, every layout runs. Under the other instruction sets only the
 * first layout of a kind runs, if the kind has a kernel for each instruction set. */
static void arrays_of_more_than_2_to_the_32_bits(void **state)
{
	static const enum way ways[] = { LOAD, HASHES, FIXED };
	const uint64_t bytes = 542000000;
	(void)state;
	assert_true(8 * bytes > UINT64_C(1) << 32);
	for (size_t i = 0; i < COUNT_OF(isas); i++) {
		unsigned nth = 0;
		if (!have(isas[i]))
			continue;
		FOR_EACH_KIND(kind) {
			bool first = kind->every_isa;
			for (size_t l = 0; l < kind->layouts.n; l++) {
				const struct test_layout *layout = &kind->layouts.rows[l];
				if (!layout->huge_keys)
					continue;
				if (slow || i == 0 || first)
					build((struct build){ .kind = kind,
					                      .layout = layout,
					                      .way = ways[nth % COUNT_OF(ways)],
					                      .threads = 2 - nth % 2,
					                      .n = layout->huge_keys,
					                      .max_bytes = bytes });
				first = false;
				nth++;
			}
		}
	}
	unsetenv("WEIR_ISA");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_of_every_build),
		cmocka_unit_test(arrays_of_more_than_2_to_the_32_bits),
	};
	slow = argc > 1 && strcmp(argv[1], "slow") == 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
