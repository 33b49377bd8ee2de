/* SPDX-License-Identifier: MIT
 * The common part of the stress tests: threads that really meet, fresh keys, delays, and a check
 * that reports its place.
 *
 * Keys are fresh in every round and the filter stays less than half full; otherwise another key's
 * bit could hide a lost one. */
#ifndef WEIR_TESTS_STRESS_H
#define WEIR_TESTS_STRESS_H

#include <stdbool.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <weir/weir.h>
#include "../kinds/kind.h"

struct rcu_flavor_struct;

enum { MOST_THREADS = 64, MOST_LAYOUTS = 256 };

/* Read from the command line. Every test takes all of them. */
struct stress {
	uint64_t operations; /* inserts and lookups over all layouts, about */
	unsigned threads;    /* that insert */
	uint64_t seed;
	const struct rcu_flavor_struct *flavor; /* for tests with a handle: flavor.h */
	const char *flavor_name;
};
struct stress stress_read(int argc, char **argv, uint64_t operations);

/* A layout of a kind that takes inserts, and its number. */
struct layout {
	const char *name;
	const struct test_kind *kind;
	const struct test_layout *row;
	uint64_t number;
};
size_t stress_layouts(void);
struct layout stress_layout(size_t i);

/* A filter for @capacity keys at 1 %. @words: receives its memory, where the test compares what the
 * verbs do not show; NULL: the filter makes its own memory. */
struct weir_filter *stress_filter(const struct layout *layout, uint64_t capacity, uint64_t **words,
                                  size_t *bytes);
/* For a kind made of bits: end the test unless less than half of the bits are set, and more than a
 * few keys have set them. */
void stress_check_fill(const struct weir_filter *f);

#define check(condition, ...) \
	do { \
		if (!(condition)) \
			stress_fail(__FILE__, __LINE__, #condition, __VA_ARGS__); \
	} while (0)
void stress_fail(const char *file, int line, const char *condition, const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));

/* Different hashes for different numbers, spread over all filters. */
uint64_t stress_hash(uint64_t number);
uint64_t stress_random(uint64_t *state);
/* Wait for a short time sometimes, and rarely for a long one. */
void stress_delay(uint64_t *state);

/* A barrier for @threads threads. They spin instead of sleeping, so that all go on at once. */
struct barrier {
	unsigned threads;
	atomic_uint arrived, round;
};
void barrier_wait(struct barrier *b);

/* Run @work in @n threads, each with its number, and wait for all. */
void stress_run(unsigned n, void (*work)(void *shared, unsigned thread), void *shared);

double stress_seconds(void);

#endif
