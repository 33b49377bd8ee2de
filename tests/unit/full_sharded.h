/* SPDX-License-Identifier: MIT
 * A sharded set of filters that refuse keys when full and remove keys. */
#ifndef WEIR_TESTS_UNIT_FULL_ROLLING_H
#define WEIR_TESTS_UNIT_FULL_ROLLING_H

#include "../sharded.h"
#include "full.h"
#include "set/sharded/sharded.h"

/* Create a set of two shards. Each shard stores at most @most keys, and each duplicate counts as a
 * key. */
static inline struct weir_handle *full_sharded(uint32_t most)
{
	const struct weir_plan whole = WEIR_PLAN_INIT;
	struct weir_params p = WEIR_PARAMS_INIT;
	struct weir_handle *set = NULL;
	p.capacity = 1000, p.fp_rate = 0.01, p.seed = BOUNDED_SEED;
	assert_ok(sharded_create(&set, &p, 2, NULL));
	for (unsigned i = 0; i < 2; i++)
		assert_ok(weir_reload_commit(full_begin(set->sharded->shard[i], &bounded_removes,
		                                        most, false)));
	/* a view copies the abilities of the shards at creation, so recreate the view */
	weir__filter_free(set->generation->current);
	assert_ok(weir__view_make(&set->generation->current, set->sharded, &whole));
	return set;
}

#endif
