/* SPDX-License-Identifier: MIT
 * The common part of the stress tests: threads that really meet, fresh keys, delays, and a check
 * that reports its file and line.
 *
 * Keys are fresh in every round, and a filter stays less than half full. Otherwise another key's
 * bit could hide a lost key. */
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

/* Options from the command line. Every test accepts all options. */
struct stress {
	uint64_t operations; /* approximate number of inserts and lookups over all layouts */
	unsigned threads;    /* number of inserting threads */
	uint64_t seed;
	const struct rcu_flavor_struct *flavor; /* for tests with a handle: flavor.h */
	const char *flavor_name;
};
struct stress stress_read(int argc, char **argv, uint64_t operations);

/* A layout of a kind that takes inserts. @number: the index of the layout. */
struct layout {
	const char *name;
	const struct test_kind *kind;
	const struct test_layout *row;
	uint64_t number;
};
size_t stress_layouts(void);
struct layout stress_layout(size_t i);

/* Return: a filter for @capacity keys at 1 %. @words: receives the filter's memory, for tests that
 * compare bits. NULL: the filter allocates its own memory. */
struct weir_filter *stress_filter(const struct layout *layout, uint64_t capacity, uint64_t **words,
                                  size_t *bytes);
/* For a kind made of bits, end the test in two cases: if half of the bits or more are set, or if
 * the filter has at most a twentieth of the keys that it has room for. */
void stress_check_fill(const struct weir_filter *f);

#define check(condition, ...) \
	do { \
		if (!(condition)) \
			stress_fail(__FILE__, __LINE__, #condition, __VA_ARGS__); \
	} while (0)
void stress_fail(const char *file, int line, const char *condition, const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));

/* Return: a hash, well mixed. Different numbers have different hashes. */
uint64_t stress_hash(uint64_t number);
uint64_t stress_random(uint64_t *state);
/* Wait: sometimes for a short time, rarely for a long time. */
void stress_delay(uint64_t *state);

/* A barrier for @threads threads, which spin instead of sleeping, so that all continue at once. */
struct barrier {
	unsigned threads;
	atomic_uint arrived, round;
};
void barrier_wait(struct barrier *b);

/* Run @work in @n threads, each with its number, and wait until all threads have ended. */
void stress_run(unsigned n, void (*work)(void *shared, unsigned thread), void *shared);

double stress_seconds(void);

#endif
