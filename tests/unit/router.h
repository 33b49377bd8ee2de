/* SPDX-License-Identifier: MIT
 * What the tests of a router share. */
#ifndef WEIR_TESTS_UNIT_ROUTER_H
#define WEIR_TESTS_UNIT_ROUTER_H

#include "../test.h"

/* Of 1 %, and of a fixed seed. */
static inline struct weir_router_options router_options(uint32_t sets, uint64_t capacity)
{
	struct weir_router_options o = WEIR_ROUTER_OPTIONS_INIT;
	o.sets = sets;
	o.capacity = capacity;
	o.fp_rate = 0.01;
	o.seed = 42;
	return o;
}

static inline struct weir_router *router_of(uint32_t sets, uint64_t capacity, uint32_t rows)
{
	struct weir_router_options o = router_options(sets, capacity);
	struct weir_router *r = NULL;
	o.rows_per_key = rows;
	assert_ok(weir_router_create(&r, &o));
	assert_non_null(r);
	return r;
}

static inline struct weir_router_stats router_stats(const struct weir_router *r)
{
	struct weir_router_stats s = WEIR_ROUTER_STATS_INIT;
	assert_ok(weir_router_stats(r, &s));
	return s;
}

#endif
