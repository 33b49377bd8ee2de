/* SPDX-License-Identifier: MIT
 * Shared by the tests of windows: a clock that the test sets, and loops over every number of
 * generations and every layout. */
#ifndef WEIR_TESTS_UNIT_WINDOW_H
#define WEIR_TESTS_UNIT_WINDOW_H

#include <math.h>
#include "../test.h"

static _Atomic uint64_t now_ns; /* some tests read the clock in another thread */

static uint64_t test_clock(void *unused)
{
	(void)unused;
	return now_ns;
}

/* Return: parameters of a window with a span of 6 s and a fixed seed. */
static inline struct weir_params options(uint32_t generations, uint32_t layout)
{
	struct weir_params o = WEIR_PARAMS_INIT;
	o.kind = WEIR_WINDOW;
	o.window.generations = generations;
	o.window.layout = layout;
	o.capacity = 70000;
	o.fp_rate = 0.01;
	o.window.span_seconds = 6;
	o.seed = 42;
	o.window.run.clock = test_clock;
	now_ns = UINT64_C(1000000000000);
	return o;
}

static inline struct weir_filter *make(const struct weir_params *o)
{
	struct weir_filter *w = NULL;
	assert_ok(weir_create(&w, o));
	assert_non_null(w);
	return w;
}

static inline void wait_for(double seconds)
{
	now_ns += (uint64_t)llround(seconds * 1e9);
}

static inline struct weir_window_stats stats_of(const struct weir_filter *w)
{
	struct weir_window_stats s = WEIR_WINDOW_STATS_INIT;
	assert_ok(weir_window_measure(w, WEIR_SAMPLED, &s));
	return s;
}

static inline struct weir_stats figures_of(const struct weir_filter *w)
{
	struct weir_stats s = WEIR_STATS_INIT;
	assert_ok(weir_measure(w, WEIR_SAMPLED, &s));
	return s;
}

#define FOR_EACH_SHAPE(o) \
	for (unsigned shape = 0; shape < 45; shape++) \
		for (struct weir_params o = options(2 + shape % 15, 0), *once = &o; \
		     once && shape_of(&o, shape / 15); once = NULL)

/* Shape 0: columns. Shape 1: rings with one word per key. Shape 2: rings with the number of words
 * per key that needs the least memory. */
static inline bool shape_of(struct weir_params *o, unsigned which)
{
	o->window.layout = which ? WEIR_WINDOW_RING : WEIR_WINDOW_COLUMNS;
	o->window.words_per_key = which == 1 ? 1 : 0;
	o->capacity = 7000;
	return true;
}

#endif
