/* SPDX-License-Identifier: MIT
 * The common part of the stress tests: see stress.h. */
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "../short.h"
#include "stress.h"

/* Return: the number of layouts of a kind that the stress tests run. The number is 0 for kinds that
 * are built once, because they take no inserts. It is also 0 for windows, because all keys would
 * enter one generation (test_window.c tests windows). */
static size_t rows_of(const struct test_kind *kind)
{
	return kind->reference.build || test_forgets(kind->id) ? 0 : kind->layouts.n;
}

size_t stress_layouts(void)
{
	size_t n = 0;
	FOR_EACH_KIND(kind)
		n += rows_of(kind);
	return n;
}

struct layout stress_layout(size_t i)
{
	size_t first = 0;
	FOR_EACH_KIND(kind) {
		if (i < first + rows_of(kind)) {
			const struct test_layout *row = &kind->layouts.rows[i - first];
			return (struct layout){ row->name, kind, row, i };
		}
		first += rows_of(kind);
	}
	check(false, "layout %zu", i);
	return (struct layout){ 0 };
}

struct stress stress_read(int argc, char **argv, uint64_t operations)
{
	static const struct option options[] = {
		{ "operations", required_argument, 0, 'n' },
		{ "threads", required_argument, 0, 't' },
		{ "seed", required_argument, 0, 's' },
		{ "flavor", required_argument, 0, 'f' },
		{ 0 },
	};
	struct stress s = {
		.operations = operations, .threads = 2, .seed = 1, .flavor_name = "bp"
	};
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
		switch (c) {
		case 'n': s.operations = strtoull(optarg, NULL, 10); break;
		case 't': s.threads = (unsigned)strtoul(optarg, NULL, 10); break;
		case 's': s.seed = strtoull(optarg, NULL, 10); break;
		case 'f': s.flavor_name = optarg; break;
		default: exit(2);
		}
	if (optind < argc || s.threads < 2 || s.threads > MOST_THREADS / 2 || !s.operations) {
		fprintf(stderr,
		        "usage: %s [--operations N] [--threads 2..%d] [--seed N] [--flavor NAME]\n",
		        argv[0], MOST_THREADS / 2);
		exit(2);
	}
	if (!TEST_SANITIZED && test_is_short() && s.operations > 4) /* sanitized runs do less */
		s.operations /= 4;
	return s;
}

void stress_fail(const char *file, int line, const char *condition, const char *format, ...)
{
	va_list args;
	fprintf(stderr, "%s:%d: not %s: ", file, line, condition);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

struct weir_filter *stress_filter(const struct layout *layout, uint64_t capacity, uint64_t **words,
                                  size_t *bytes)
{
	struct weir_params params = test_params(layout->kind, &layout->row->ask);
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_filter *f = NULL;
	params.capacity = capacity;
	params.fp_rate = 0.01;
	params.seed = test_seed(layout->kind->id, 1);
	int err = weir_plan_make(&params, &plan);
	check(err == 0, "%s", weir_error_detail());
	if (words) {
		*bytes = plan.bytes;
		*words = aligned_alloc(64, plan.bytes);
		params.memory = *words;
		params.memory_bytes = plan.bytes;
	}
	err = weir_create(&f, &params);
	check(err == 0, "%s", weir_error_detail());
	return f;
}

void stress_check_fill(const struct weir_filter *f)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	int err = weir_measure(f, WEIR_EXACT, &stats);
	check(err == 0, "%s", weir_error_detail());
	if (!test_kind_of(stats.shape.kind)->reference.bits)
		return;
	check(stats.keys_estimated > (double)stats.capacity / 20 && stats.fill < 0.5,
	      "the filter is %.1f %% full, of %g keys", 100 * stats.fill, stats.keys_estimated);
}

uint64_t stress_hash(uint64_t number) /* splitmix64 (Steele, Lea, Flood 2014) */
{
	uint64_t x = number * UINT64_C(0x9E3779B97F4A7C15) + UINT64_C(0x632BE59BD9B4E019);
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

uint64_t stress_random(uint64_t *state)
{
	return stress_hash((*state)++);
}

void stress_delay(uint64_t *state)
{
	uint64_t r = stress_random(state);
	if (r % 16 == 0)
		for (unsigned i = (unsigned)(r >> 8) % 64; i; i--)
			/* the fence makes the compiler keep the loop */
			atomic_signal_fence(memory_order_seq_cst);
	if (r % 4096 == 1)
		sched_yield();
}

void barrier_wait(struct barrier *b)
{
	unsigned round = atomic_load_explicit(&b->round, memory_order_acquire);
	if (atomic_fetch_add_explicit(&b->arrived, 1, memory_order_acq_rel) + 1 == b->threads) {
		atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
		atomic_store_explicit(&b->round, round + 1, memory_order_release);
		return;
	}
	for (unsigned spins = 0; atomic_load_explicit(&b->round, memory_order_acquire) == round;
	     spins++)
		if (spins % 4096 == 4095)
			/* yield, because there may be fewer cores than threads; but do not sleep,
			 * because a thread that sleeps comes too late to collide */
			sched_yield();
}

struct start {
	void (*work)(void *shared, unsigned thread);
	void *shared;
	unsigned thread;
};

/* Give each thread its own core if possible, because two threads on one core never meet. */
static void spread(unsigned thread)
{
	cpu_set_t all, one;
	if (pthread_getaffinity_np(pthread_self(), sizeof all, &all) || CPU_COUNT(&all) < 2)
		return;
	unsigned nth = thread % (unsigned)CPU_COUNT(&all), cpu = 0;
	while (!CPU_ISSET(cpu, &all) || nth-- > 0)
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	(void)pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

static void *begin(void *argument)
{
	const struct start *s = argument;
	spread(s->thread);
	s->work(s->shared, s->thread);
	return NULL;
}

void stress_run(unsigned n, void (*work)(void *shared, unsigned thread), void *shared)
{
	pthread_t threads[MOST_THREADS];
	struct start starts[MOST_THREADS];
	check(n <= MOST_THREADS, "%u threads", n);
	for (unsigned i = 0; i < n; i++) {
		starts[i] = (struct start){ work, shared, i };
		int err = pthread_create(&threads[i], NULL, begin, &starts[i]);
		check(err == 0, "pthread_create: %s", strerror(err));
	}
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

double stress_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
