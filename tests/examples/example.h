/* SPDX-License-Identifier: MIT
 * What the scenarios share: time, arguments, threads, and how one ends that breaks a promise. */
#ifndef WEIR_EXAMPLES_EXAMPLE_H
#define WEIR_EXAMPLES_EXAMPLE_H

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weir/weir.h>
#include "../../bench/keys.h"

enum { MOST_THREADS = 64, SEED = 2026 };

static inline double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A call of weir, or of the system, that cannot go wrong here. */
static inline void must(int err, const char *what)
{
	if (err >= 0)
		return;
	fprintf(stderr, "%s: %s: %s\n", what, weir_strerror(err), weir_error_detail());
	exit(1);
}

static inline void *room_for(uint64_t n, size_t size)
{
	void *memory = calloc(n ? n : 1, size);
	if (!memory) {
		fprintf(stderr, "no memory for %llu times %zu bytes\n", (unsigned long long)n,
		        size);
		exit(1);
	}
	return memory;
}

/* What the example is there to show. */
static inline bool promise(bool kept, const char *what)
{
	if (!kept)
		fprintf(stderr, "NOT KEPT: %s\n", what);
	return kept;
}

/* A whole number from @least to @most, or the usage line. */
static inline uint64_t number(const char *text, uint64_t least, uint64_t most, const char *usage)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || n < least || n > most) {
		fprintf(stderr, "%s: a number from %llu to %llu is wanted\nusage: %s\n", text,
		        (unsigned long long)least, (unsigned long long)most, usage);
		exit(2);
	}
	return n;
}

/* More than three standard deviations above what the rate allows of @n lookups is no chance. */
static inline bool within(uint64_t wrong, double rate, uint64_t n)
{
	return (double)wrong <= 1.05 * rate * (double)n + 3 * sqrt(rate * (double)n) + 1;
}

static inline void in_threads(unsigned n, void *(*body)(void *))
{
	pthread_t thread[MOST_THREADS];
	for (uintptr_t i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, body, (void *)i))
			abort();
	for (unsigned i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

#endif
