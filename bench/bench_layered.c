/* SPDX-License-Identifier: MIT
 * Measures the layered kind at the size of a certificate revocation list: its memory compared with
 * the bound of information theory, the time of each step of building, and lookups compared with
 * those of the fuse kind. Run it by hand: bench_layered [INCLUDED [EXCLUDED [THREADS]]]. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <weir/weir.h>

enum { BATCH = 4096, LOOKUPS = 1 << 22, ROUNDS = 5 };

static double clock_of(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(void)
{
	return clock_of(CLOCK_MONOTONIC);
}

static void check(int err)
{
	if (!err)
		return;
	fprintf(stderr, "bench_layered: %s\n", weir_error_detail());
	exit(2);
}

/* splitmix64 of a counter: a bijection, so all hashes differ. */
static uint64_t hash_of(uint64_t i)
{
	uint64_t x = i * UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/* ---- adding keys with several threads ---- */

struct stream {
	struct weir_builder *b;
	int (*take)(struct weir_builder *b, struct weir_keys keys);
	uint64_t end;
	_Atomic uint64_t next;
};

static void *give(void *arg)
{
	struct stream *s = arg;
	uint64_t hashes[BATCH];
	for (;;) {
		const uint64_t first = atomic_fetch_add(&s->next, BATCH);
		if (first >= s->end)
			return NULL;
		const size_t n = s->end - first < BATCH ? (size_t)(s->end - first) : BATCH;
		for (size_t i = 0; i < n; i++)
			hashes[i] = hash_of(first + i);
		check(s->take(s->b, weir_keys_hashes(hashes, n)));
	}
}

static double streamed(struct stream *s, unsigned threads)
{
	pthread_t thread[64];
	const double begun = seconds();
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, give, s))
			abort();
	for (unsigned i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return seconds() - begun;
}

/* ---- lookups ---- */

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Return: the median of some rounds, in ns per lookup. */
static double looked_up(const struct weir_filter *f, const uint64_t *hashes, size_t batch)
{
	double ns[ROUNDS];
	volatile size_t found = 0;
	for (unsigned r = 0; r < ROUNDS; r++) {
		/* this thread's CPU time, since other programs may use the machine */
		const double begun = clock_of(CLOCK_THREAD_CPUTIME_ID);
		for (size_t i = 0; i < LOOKUPS; i += batch)
			found += batch > 1 ?
			                 weir_contains_keys(f, weir_keys_hashes(hashes + i, batch),
			                                    NULL) :
			                 weir_contains_hash(f, hashes[i]);
		ns[r] = 1e9 * (clock_of(CLOCK_THREAD_CPUTIME_ID) - begun) / LOOKUPS;
	}
	qsort(ns, ROUNDS, sizeof *ns, ascending);
	return ns[ROUNDS / 2];
}

static void compare(const struct weir_filter *layered, const struct weir_filter *fuse,
                    const char *name, uint64_t first, uint64_t n)
{
	uint64_t *hashes = malloc(LOOKUPS * sizeof *hashes);
	for (size_t i = 0; hashes && i < LOOKUPS; i++)
		hashes[i] = hash_of(first + hash_of(~(uint64_t)i) % n);
	if (!hashes)
		abort();
	for (size_t batch = 1; batch <= 1024; batch *= 1024)
		printf("%s, %4zu a call: layered %6.2f ns, fuse of 8 bits %6.2f ns\n", name, batch,
		       looked_up(layered, hashes, batch), looked_up(fuse, hashes, batch));
	free(hashes);
}

static struct weir_filter *fuse_of(uint64_t included, unsigned threads)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	struct weir_builder *b = NULL;
	p.kind = WEIR_FUSE;
	p.fp_rate = 0.004;
	p.seed = 1;
	o.threads = threads;
	check(weir_builder_create(&b, &p, &o));
	struct stream s = { b, weir_builder_add_keys, included, 0 };
	(void)streamed(&s, threads);
	check(weir_builder_finish(&f, b, NULL));
	weir_builder_destroy(b);
	return f;
}

/* Return: the fewest bytes that can encode a subset of @included keys out of @all. */
static double bound(double included, double all)
{
	const double share = included / all;
	return -all * (share * log2(share) + (1 - share) * log2(1 - share)) / 8;
}

static uint64_t number(int argc, char **argv, int i, uint64_t otherwise)
{
	return argc > i ? strtoull(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	const uint64_t included = number(argc, argv, 1, 11700000);
	const uint64_t excluded = number(argc, argv, 2, 804300000);
	const unsigned threads = (unsigned)number(argc, argv, 3, 2);
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	struct weir_build_report report = WEIR_BUILD_REPORT_INIT;
	struct weir_stats stats = WEIR_STATS_INIT;
	struct weir_filter *f = NULL;
	struct weir_builder *b = NULL;
	char shape[WEIR_SHAPE_TEXT];
	if (!included || !threads || threads > 64)
		return 2;
	p.kind = WEIR_LAYERED;
	p.fp_rate = 0.5;
	p.layered.exclude_keys = excluded;
	p.seed = 1;
	o.threads = threads;
	check(weir_builder_create(&b, &p, &o));
	struct stream in = { b, weir_builder_add_keys, included, 0 };
	const double adding = streamed(&in, threads);
	check(weir_builder_seal(b));
	struct stream ex = { b, weir_builder_exclude_keys, included + excluded, included };
	const double streaming = streamed(&ex, threads);
	check(weir_builder_finish(&f, b, &report));
	weir_builder_destroy(b);
	check(weir_measure(f, WEIR_SAMPLED, &stats));
	check(weir_shape_text(&stats.shape, shape));
	printf("%" PRIu64 " included, %" PRIu64 " excluded, %" PRIu64 " passed, %u threads: %s\n",
	       report.keys, report.excluded, report.passed, threads, shape);
	printf("%.3f MB, %.3f bits an included key; the bound is %.3f MB\n",
	       (double)stats.bytes / 1e6, 8 * (double)stats.bytes / (double)included,
	       bound((double)included, (double)(included + excluded)) / 1e6);
	printf("adding %.2f s, sealing %.2f s, streaming %.2f s (%.2f ns a key), "
	       "sorting what passed %.2f s, second level %.2f s\n", adding,
	       report.seal_seconds, streaming, 1e9 * streaming / (double)excluded,
	       report.sort_seconds, report.build_seconds);
	struct weir_filter *fuse = fuse_of(included, threads);
	compare(f, fuse, "included", 0, included);
	compare(f, fuse, "excluded", included, excluded ? excluded : 1);
	compare(f, fuse, "neither ", included + excluded, 1 << 30);
	weir_destroy(fuse);
	weir_destroy(f);
	return 0;
}
