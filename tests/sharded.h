/* SPDX-License-Identifier: MIT
 * Helpers for the tests of sharded sets: create a set, and reload one of its shards. */
#ifndef WEIR_TESTS_SHARDED_H
#define WEIR_TESTS_SHARDED_H

#include <weir/reload.h>

static inline int sharded_create(struct weir_handle **out, const struct weir_params *params,
                                 uint32_t shards, const struct rcu_flavor_struct *of)
{
	struct weir_handle_options o = WEIR_HANDLE_OPTIONS_INIT;
	o.params = params;
	o.shards = shards;
	o.flavor = of;
	return weir_handle_create(out, NULL, &o);
}

/* @options: may be NULL. */
static inline int shard_begin(struct weir_reload **out, struct weir_handle *set, uint32_t shard,
                              const struct weir_reload_options *options)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	if (options)
		o = *options;
	o.shard = shard;
	return weir_reload_begin(out, set, &o);
}

#endif
