/* SPDX-License-Identifier: MIT
 * Guards over sets whose keys the test knows: join, ask, and read the statistics. */
#ifndef WEIR_TESTS_GUARDS_H
#define WEIR_TESTS_GUARDS_H

#include <sys/uio.h>
#include "test.h"

enum { WINDOW = 1024 };

/* The set of all numbers below *held. Return: true if the key is in the set. */
static inline bool is_below(const void *held, const void *key, size_t len)
{
	uint64_t number;
	assert_int_equal(len, sizeof number);
	memcpy(&number, key, sizeof number);
	return number < *(const uint64_t *)held;
}

static inline struct weir_guard *made(const struct weir_guard_options *o)
{
	struct weir_guard *g = NULL;
	assert_ok(weir_guard_create(&g, o));
	assert_non_null(g);
	return g;
}

static inline struct weir_guard_thread *joined(struct weir_guard *g)
{
	struct weir_guard_thread *t = NULL;
	assert_ok(weir_guard_join(&t, g));
	assert_non_null(t);
	return t;
}

static inline struct weir_guard_stats stats_of(struct weir_guard *g)
{
	struct weir_guard_stats s = WEIR_GUARD_STATS_INIT;
	assert_ok(weir_guard_measure(g, &s));
	return s;
}

/* Options of a guard over a set of one key, number 0. */
static const uint64_t one = 1;
static inline struct weir_guard_options of_one(double below, double above)
{
	struct weir_guard_options o = WEIR_GUARD_OPTIONS_INIT;
	o.contains = is_below;
	o.set = &one;
	o.bypass_below = below;
	o.resume_above = above;
	o.window = WINDOW;
	return o;
}

/* Ask until @n asks have reached the filter. The first @stopped of these are for an absent key.
 * Return: the number of other asks, which bypassed the filter. */
static inline unsigned ask(struct weir_guard_thread *t, unsigned n, unsigned stopped)
{
	unsigned bypassed = 0;
	for (unsigned measured = 0; measured < n;) {
		const uint64_t key = measured < stopped;
		const int answer = weir_guard_ask(t, &key, sizeof key);
		weir_guard_saw(t, answer, key == 0);
		if (answer == WEIR_GUARD_BYPASSED) {
			bypassed++;
			continue;
		}
		assert_int_equal(answer, key ? WEIR_GUARD_ABSENT : WEIR_GUARD_MAYBE);
		measured++;
	}
	return bypassed;
}

#endif
