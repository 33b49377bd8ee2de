/* SPDX-License-Identifier: MIT
 * Tells whether a telephone number is taken. A sign-up form asks a filter of all taken numbers,
 * and asks the database only if the filter answers yes. Usage: signup KIND NUMBERS THREADS
 *
 * The kind is blocked, classic or fuse. The threads make and hash the numbers in blocks. A kind
 * with inserts is loaded block by block; a kind that is built once collects the hashes first. Then
 * the threads look up every number, and as many numbers that are not in the filter. */
#include <stdatomic.h>
#include "../example.h"

static const char usage[] = "signup KIND NUMBERS THREADS";

static const uint32_t kinds[] = { WEIR_BLOCKED, WEIR_CLASSIC, WEIR_FUSE };

enum { BLOCK = 1 << 20, BATCH = 1024 };

static struct weir_params params = WEIR_PARAMS_INIT;
static struct weir_filter *filter;
static struct weir_builder *builder; /* or NULL */
static uint64_t numbers;
static atomic_ullong next, found, found_absent, missed_alone, batch_ns, single_ns;
static double made[MOST_THREADS], filled[MOST_THREADS]; /* seconds */

/* A batch of numbers as text. */
struct batch {
	char text[BATCH][KEY_TELEPHONE_ROOM];
	struct iovec key[BATCH];
};

static void make(struct batch *b, uint64_t first, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		b->key[i].iov_base = b->text[i];
		b->key[i].iov_len = key_telephone(b->text[i], SEED, first + i);
	}
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void *fill(void *thread)
{
	struct batch *b = room_for(1, sizeof *b);
	uint64_t *hashes = room_for(BLOCK, sizeof *hashes), first;
	while ((first = atomic_fetch_add(&next, BLOCK)) < numbers) {
		uint64_t n = least(BLOCK, numbers - first);
		double began = seconds(), hashing = 0;
		for (uint64_t i = 0; i < n; i += BATCH) {
			uint64_t part = least(BATCH, n - i);
			make(b, first + i, part);
			double hash = seconds();
			for (uint64_t k = 0; k < part; k++)
				hashes[i + k] = weir_hash_seeded(params.seed, b->text[k],
				                                 b->key[k].iov_len);
			hashing += seconds() - hash;
		}
		double ready = seconds();
		must(builder ? weir_builder_add_keys(builder, weir_keys_hashes(hashes, n)) :
		               weir_fill_keys(filter, weir_keys_hashes(hashes, n)),
		     "load");
		made[(uintptr_t)thread] += ready - began - hashing;
		filled[(uintptr_t)thread] += seconds() - ready + hashing;
	}
	free(hashes);
	free(b);
	return NULL;
}

/* Look up all numbers, and as many absent numbers, in batches. After every eighth batch, choose a
 * batch at a random place and look up its numbers one by one. */
static void *look(void *unused)
{
	struct batch *b = room_for(1, sizeof *b);
	uint64_t first, batch = 0, single = 0, missed = 0, yes[2] = { 0, 0 };
	while ((first = atomic_fetch_add(&next, BATCH)) < 2 * numbers) {
		uint64_t n = least(BATCH, 2 * numbers - first);
		make(b, first, n);
		uint64_t of_those = first >= numbers ? 0 : least(n, numbers - first);
		double began = cpu_seconds();
		yes[0] += weir_contains_keys(filter, weir_keys_iov(b->key, of_those), NULL);
		yes[1] += weir_contains_keys(filter, weir_keys_iov(b->key + of_those, n - of_those),
		                             NULL);
		double ended = cpu_seconds();
		batch += (uint64_t)((ended - began) * 1e9);
		if (first / BATCH % 8)
			continue;
		uint64_t any = key_scramble(first) % (2 * numbers - n), sum = 0;
		make(b, any, n);
		began = cpu_seconds();
		for (uint64_t i = 0; i < n; i++)
			sum += weir_contains(filter, b->text[i], b->key[i].iov_len);
		single += (uint64_t)((cpu_seconds() - began) * 1e9);
		missed += any + n <= numbers ? n - sum : 0;
	}
	atomic_fetch_add(&found, yes[0]);
	atomic_fetch_add(&found_absent, yes[1]);
	atomic_fetch_add(&missed_alone, missed);
	atomic_fetch_add(&batch_ns, batch);
	atomic_fetch_add(&single_ns, single);
	free(b);
	return unused;
}

/* Return: the seconds of the build, without the time in which the threads made the numbers. */
static double build(unsigned threads)
{
	struct weir_builder_options o = WEIR_BUILDER_OPTIONS_INIT;
	double sum_made = 0, sum_filled = 0;
	o.threads = threads;
	if (weir_kind_can(params.kind, WEIR_CAN_BUILD))
		must(weir_builder_create(&builder, &params, &o), "builder");
	else
		must(weir_create(&filter, &params), "create");
	double wall = in_threads(threads, fill);
	for (unsigned i = 0; i < threads; i++) {
		sum_made += made[i];
		sum_filled += filled[i];
	}
	wall *= sum_filled / (sum_made + sum_filled);
	if (!builder)
		return wall;
	double began = seconds();
	must(weir_builder_finish(&filter, builder, NULL), "build");
	weir_builder_destroy(builder);
	return wall + seconds() - began;
}

int main(int argc, char **argv)
{
	arguments(argc == 4, usage);
	params.kind = kind_of(argv[1], kinds, 3, usage);
	numbers = number(argv[2], 100000, 500000000, usage);
	unsigned threads = (unsigned)number(argv[3], 1, MOST_THREADS, usage);
	params.capacity = numbers;
	params.fp_rate = 0.01;
	params.seed = SEED;
	double built = build(threads);
	struct weir_stats stats = WEIR_STATS_INIT;
	must(weir_measure(filter, WEIR_SAMPLED, &stats), "stats");
	atomic_store(&next, 0);
	in_threads(threads, look);
	double n = (double)numbers;
	printf("%s, %llu telephone numbers: %.1f MB, %.2f bits each; built in %.1f s by %u "
	       "threads; %.3f %% of %llu others may be taken; %.1f ns a lookup in batches, %.1f "
	       "alone\n", argv[1], (unsigned long long)numbers, (double)stats.bytes * 1e-6,
	       (double)stats.bytes * 8 / n, built, threads, (double)found_absent / n * 100,
	       (unsigned long long)numbers, (double)batch_ns / n / 2, (double)single_ns / n * 4);
	weir_destroy(filter);
	bool kept = promise(found == numbers && !missed_alone,
	                    "a number that is taken is answered yes");
	kept &= promise(within(found_absent, 0.01, numbers), "1 % of the others at most");
	kept &= promise((double)stats.bytes * 8 <= 11.5 * n + 1e6, "at most 11.5 bits a number");
	return !kept;
}
