/* SPDX-License-Identifier: MIT
 * Shared by the tests of routers. */
#ifndef WEIR_TESTS_UNIT_ROUTER_H
#define WEIR_TESTS_UNIT_ROUTER_H

#include "../test.h"

static inline struct weir_params router_params(uint32_t sets, uint64_t capacity)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	p.kind = WEIR_ROUTER;
	p.router.sets = sets;
	p.capacity = capacity;
	p.fp_rate = 0.01;
	p.seed = 42;
	return p;
}

static inline struct weir_filter *router_of(uint32_t sets, uint64_t capacity, uint32_t rows)
{
	struct weir_params p = router_params(sets, capacity);
	struct weir_filter *r = NULL;
	p.router.rows_per_key = rows;
	assert_ok(weir_create(&r, &p));
	assert_non_null(r);
	return r;
}

static inline struct weir_router_stats router_stats(const struct weir_filter *r)
{
	struct weir_router_stats s = WEIR_ROUTER_STATS_INIT;
	assert_ok(weir_router_measure(r, WEIR_SAMPLED, &s));
	return s;
}

static inline struct weir_stats whole_stats(const struct weir_filter *r)
{
	struct weir_stats s = WEIR_STATS_INIT;
	assert_ok(weir_measure(r, WEIR_SAMPLED, &s));
	return s;
}

#endif
