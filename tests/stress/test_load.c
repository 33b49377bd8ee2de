/* SPDX-License-Identifier: MIT
 * Several threads call weir_fill_keys() on one filter, which no other thread uses. The call uses
 * plain stores and one owner for each part. The bits must be those that atomic inserts set, and
 * ThreadSanitizer must see no race. Every second filter has a single part, so the threads take
 * turns. */
#include <stdio.h>
#include <string.h>
#include "stress.h"

enum { KEYS = 200000, CALL = 10000 };

struct loading {
	struct weir_filter *f;
	const uint64_t *hashes;
	unsigned threads;
	uint64_t n;
	struct barrier start;
};

static void load(void *shared, unsigned thread)
{
	struct loading *l = shared;
	uint64_t from = l->n * thread / l->threads, to = l->n * (thread + 1) / l->threads;
	barrier_wait(&l->start);
	for (uint64_t at = from, n; at < to; at += n) {
		n = to - at < CALL ? to - at : CALL;
		int err = weir_fill_keys(l->f, weir_keys_hashes(l->hashes + at, n));
		check(err == 0, "%s", weir_error_detail());
	}
}

static void run(const struct layout *layout, unsigned threads, uint64_t first, uint64_t n)
{
	static uint64_t hashes[KEYS];
	uint64_t *words, *words_alone;
	size_t bytes;
	for (uint64_t i = 0; i < n; i++)
		hashes[i] = stress_hash(first + i);
	struct weir_filter *f = stress_filter(layout, n, &words, &bytes);
	struct weir_filter *alone = stress_filter(layout, n, &words_alone, &bytes);
	struct loading l = { .f = f, .hashes = hashes, .threads = threads, .n = n,
	                     .start = { .threads = threads } };
	stress_run(threads, load, &l);
	int64_t fresh = weir_insert_keys(alone, weir_keys_hashes(hashes, n), NULL);
	check(fresh > 0, "%s", weir_error_detail());
	check(!layout->kind->commutes || memcmp(words, words_alone, bytes) == 0,
	      "%s: loaded bits differ from inserted ones", layout->name);
	check(weir_contains_keys(f, weir_keys_hashes(hashes, n), NULL) == (int64_t)n,
	      "%s: a loaded key is missed", layout->name);
	weir_destroy(f);
	weir_destroy(alone);
	free(words);
	free(words_alone);
}

int main(int argc, char **argv)
{
	struct stress s = stress_read(argc, argv, 5000000);
	uint64_t loaded = 0, filters = 0;
	double start = stress_seconds();
	for (; loaded < s.operations; filters++) {
		uint64_t n = filters % 2 ? KEYS : KEYS / 50; /* the small filter has one part */
		struct layout layout = stress_layout(filters / 2 % stress_layouts());
		run(&layout, s.threads, s.seed << 40 | filters * KEYS, n);
		loaded += n;
	}
	printf("%llu keys loaded by %u threads into %llu filters, %.1f s\n",
	       (unsigned long long)loaded, s.threads, (unsigned long long)filters,
	       stress_seconds() - start);
	return 0;
}
