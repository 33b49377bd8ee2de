/* SPDX-License-Identifier: MIT
 * What the stress tests share: threads that really meet, keys that are new, delays, and a way to
 * fail that says where.
 *
 * Keys are fresh in every round and the filter stays less than half full, or a lost bit would be
 * hidden by another key's. */
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

/* Read from the command line; every test takes them all. */
struct stress {
	uint64_t operations; /* inserts and lookups, about, over all layouts */
	unsigned threads;    /* that insert */
	uint64_t seed;
	const struct rcu_flavor_struct *flavor; /* those with a handle: flavor.h */
	const char *flavor_name;
};
struct stress stress_read(int argc, char **argv, uint64_t operations);

/* Every layout of every kind that takes inserts, and its number. */
struct layout {
	const char *name;
	const struct test_kind *kind;
	const struct test_layout *row;
	uint64_t number;
};
size_t stress_layouts(void);
struct layout stress_layout(size_t i);

/* A filter for @capacity keys at 1 %, in memory of its own that @words receives: what is not asked
 * through the verbs is compared there.
 * @words NULL: in memory of the filter's. */
struct weir_filter *stress_filter(const struct layout *layout, uint64_t capacity, uint64_t **words,
                                  size_t *bytes);
/* Of a kind made of bits: ends the test unless less than half of them are set, by more than a few
 * keys. */
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
/* Now and then a short wait, seldom a long one. */
void stress_delay(uint64_t *state);

/* All of @n threads arrive, then all go on at the same moment: they spin rather than sleep. */
struct barrier {
	unsigned threads;
	atomic_uint arrived, round;
};
void barrier_wait(struct barrier *b);

/* Runs @work in @n threads, each with its number, and waits for all. */
void stress_run(unsigned n, void (*work)(void *shared, unsigned thread), void *shared);

double stress_seconds(void);

#endif
