/* SPDX-License-Identifier: MIT
 * What the tests of a window share: a clock of the test's, and every number of generations in every
 * layout. */
#ifndef WEIR_TESTS_UNIT_WINDOW_H
#define WEIR_TESTS_UNIT_WINDOW_H

#include <math.h>
#include "../test.h"

static _Atomic uint64_t now_ns; /* some tests have a thread that reads it */

static uint64_t test_clock(void *unused)
{
	(void)unused;
	return now_ns;
}

/* Of 6 s, and of a fixed seed. */
static inline struct weir_window_options options(uint32_t generations, uint32_t layout)
{
	struct weir_window_options o = WEIR_WINDOW_OPTIONS_INIT;
	o.generations = generations;
	o.layout = layout;
	o.capacity = 70000;
	o.fp_rate = 0.01;
	o.span_seconds = 6;
	o.seed = 42;
	o.clock = test_clock;
	now_ns = UINT64_C(1000000000000);
	return o;
}

static inline struct weir_window *make(const struct weir_window_options *o)
{
	struct weir_window *w = NULL;
	assert_ok(weir_window_create(&w, o));
	assert_non_null(w);
	return w;
}

static inline void wait_for(double seconds)
{
	now_ns += (uint64_t)llround(seconds * 1e9);
}

static inline struct weir_window_stats stats_of(const struct weir_window *w)
{
	struct weir_window_stats s = WEIR_WINDOW_STATS_INIT;
	assert_ok(weir_window_stats(w, &s));
	return s;
}

#define FOR_EACH_SHAPE(o) \
	for (unsigned shape = 0; shape < 45; shape++) \
		for (struct weir_window_options o = options(2 + shape % 15, 0), *once = &o; \
		     once && shape_of(&o, shape / 15); once = NULL)

/* Columns, rings of one word a key, rings of what needs least. */
static inline bool shape_of(struct weir_window_options *o, unsigned which)
{
	o->layout = which ? WEIR_WINDOW_RING : WEIR_WINDOW_COLUMNS;
	o->words_per_key = which == 1 ? 1 : 0;
	o->capacity = 7000;
	return true;
}

#endif
