/* SPDX-License-Identifier: MIT
 * A rolling set of filters that refuse and remove. */
#ifndef WEIR_TESTS_UNIT_FULL_ROLLING_H
#define WEIR_TESTS_UNIT_FULL_ROLLING_H

#include "full.h"
#include "set/sharded/sharded.h"

/* Of two shards with room for so many copies each. */
static inline struct weir_rolling *full_rolling(uint32_t most)
{
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_rolling *set = NULL;
	p.capacity = 1000, p.fp_rate = 0.01, p.seed = BOUNDED_SEED;
	assert_ok(weir_rolling_create(&set, &p, 2, NULL));
	for (unsigned i = 0; i < 2; i++)
		assert_ok(weir_reload_commit(
			full_begin(set->shard[i], &bounded_removes, most, false)));
	return set;
}

#endif
