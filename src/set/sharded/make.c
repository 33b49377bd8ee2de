/* SPDX-License-Identifier: MIT
 * A rolling set: creation, and the replacement of its shards. Each shard is a handle, so H1 to H5
 * (generation.h) hold in it. New are the routing, which never changes, and the one writer's claim
 * that all shards share. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/build.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "ground/threads.h"
#include "set/generation.h"
#include "set/reload/reload.h"
#include "set/sharded/sharded.h"

/* Of a kind that grows and refuses keys beyond: six deviations, unless it is not to grow at all. */
static uint64_t shard_most(const struct weir_params *shard, uint32_t shards)
{
	double mean = (double)shard->max_capacity / shards;
	uint64_t most = (uint64_t)(mean + 6 * sqrt(mean));
	return most > shard->capacity ? most : shard->capacity;
}

/* Room for the fullest of the shards: random hashes spread as a Poisson variable. Who builds a
 * shard of more keys than that is refused, so then it is the least that never comes. */
static uint64_t shard_capacity(uint64_t capacity, uint32_t shards, bool built)
{
	double mean = (double)capacity / shards;
	return (uint64_t)ceil(mean + (built ? 6 : 1) * sqrt(mean));
}

/* Of a kind that is built once the capacity may be open: then of one key. */
static int plan_one(const struct weir_params *params, struct weir_plan *plan)
{
	struct weir_params p = *params;
	if (weir_kind_can(p.kind, WEIR_CAN_BUILD) && !p.capacity)
		p.capacity = 1;
	return weir_plan_make(&p, plan);
}

/* Fail, with the sentence, if there can be no shard of that size. */
static int check_shard(const struct weir_params *shard, uint32_t shards)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	char why[400];
	int err = plan_one(shard, &plan);
	if (!err)
		return 0;
	snprintf(why, sizeof why, "%s", weir_error_detail());
	return weir__fail(err, "one of %u shards: %s", shards, why);
}

/* The parameters of one shard: its share of the keys, with room for their spread, in its share
 * of the bytes. */
static int shard_params(struct weir_params *out, const struct weir_params *params, uint32_t shards)
{
	struct weir_plan plan = WEIR_PLAN_INIT;
	struct weir_params given;
	if (shards < 2 || shards > 65536 || shards & (shards - 1))
		return weir__fail(-EINVAL, "shards %u: a power of two from 2 to 65536", shards);
	int err = weir__params_copy(params, &given);
	if (!err)
		err = weir_kind_can(given.kind, WEIR_CAN_BUILD) ?
		              weir__params_check_open(&given, out) :
		              weir__params_check(&given, out);
	if (!err && out->memory)
		err = weir__fail(
			-EINVAL,
			"params.memory: a rolling set's shards come and go in memory of their own");
	if (!err)
		err = plan_one(out, &plan);
	if (err)
		return err;
	if (out->max_bytes && out->max_bytes / shards < 64)
		return weir__fail(-EINVAL, "max_bytes %llu: %u shards take 64 bytes each at least",
		                  (unsigned long long)out->max_bytes, shards);
	if (out->capacity)
		out->capacity =
			shard_capacity(out->capacity, shards,
			               weir_kind_can(out->kind, WEIR_CAN_BUILD));
	out->max_capacity = out->max_capacity ? shard_most(out, shards) : 0;
	out->max_bytes /= shards;
	return check_shard(out, shards);
}

/* A shard before its first keys. */
static int empty(struct weir_filter **out, const struct weir_params *params)
{
	struct weir_params p = *params;
	struct weir_builder *b;
	if (!weir_kind_can(p.kind, WEIR_CAN_BUILD))
		return weir_create(out, &p);
	p.capacity = 0; /* as little as it can be */
	int err = weir_builder_create(&b, &p, NULL);
	if (err)
		return err;
	err = weir_builder_finish(out, b, NULL);
	weir_builder_destroy(b);
	return err;
}

static int add_shard(struct weir_rolling *set, uint32_t i, struct weir_params *params,
                     const struct rcu_flavor_struct *flavor)
{
	struct weir_handle_options options = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_filter *f;
	int err = empty(&f, params);
	if (err)
		return err;
	options.flavor = flavor;
	err = weir_handle_create(&set->shard[i], f, &options);
	if (err) {
		weir_destroy(f);
		return err;
	}
	set->shard[i]->writer = &set->claimed;
	params->seed = f->hashing.seed; /* the first one's, if none was given */
	set->hashing = f->hashing;
	return 0;
}

int weir_rolling_create(struct weir_rolling **out, const struct weir_params *params,
                        uint32_t shards, const struct rcu_flavor_struct *flavor)
{
	struct weir_params p;
	if (!out)
		return weir__fail(-EINVAL,
		                  "out is NULL: weir_rolling_create needs a place for the set");
	int err = shard_params(&p, params, shards);
	if (err)
		return err;
	struct weir_rolling *set = calloc(1, sizeof *set + shards * sizeof set->shard[0]);
	if (!set)
		return weir__fail(-ENOMEM, "no memory for the table of %u shards", shards);
	set->rcu = weir__rcu(flavor);
	set->bits = (unsigned)__builtin_ctz(shards);
	while (!err && set->shards < shards) {
		err = add_shard(set, set->shards, &p, flavor);
		set->shards += !err;
	}
	if (err) {
		for (uint32_t i = 0; i < set->shards; i++)
			weir__handle_free(set->shard[i]); /* not published yet */
		free(set);
		return err;
	}
	set->shard_params = p;
	set->shard_params.hash_key = weir__keyed(&set->hashing) ? set->hashing.key : NULL;
	*out = set;
	return 0;
}

int weir_rolling_destroy(struct weir_rolling *set)
{
	WEIR__UNCANCELLED;
	if (!set)
		return 0;
	int err = weir__destroy_begin(set->shard[0], "weir_rolling_destroy");
	if (err)
		return err;
	weir__synchronize(&set->rcu);
	for (uint32_t i = 0; i < set->shards; i++)
		weir__handle_free(set->shard[i]);
	free(set);
	return 0;
}

static int check_options(struct weir_reload_options *out, const struct weir_reload_options *options)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	int err = weir__options_copy(&o, sizeof o, options, "weir_reload_options");
	const char *refused = o.params        ? "params" :
	                      o.next          ? "next" :
	                      o.max_bytes     ? "max_bytes" :
	                      o.keep_previous ? "keep_previous" :
	                      o.defer_free    ? "defer_free" :
	                                        NULL;
	if (!err && refused)
		err = weir__fail(
			-EINVAL,
			"%s: a rolling set has a fixed size, and its peak is the set and one shard",
			refused);
	*out = o;
	return err;
}

int weir_rolling_begin(struct weir_reload **out, struct weir_rolling *set, uint32_t shard,
                       const struct weir_reload_options *options)
{
	struct weir_reload_options o;
	if (!out || !set)
		return weir__fail(-EINVAL, "%s is NULL: weir_rolling_begin needs it",
		                  out ? "the set" : "out");
	if (shard >= set->shards)
		return weir__fail(-EINVAL, "shard %u: allowed: 0 to %u", shard, set->shards - 1);
	int err = check_options(&o, options);
	if (!err && weir_kind_can(set->shard_params.kind, WEIR_CAN_BUILD))
		o.params = &set->shard_params; /* others are as large as those before them */
	return err ? err :
	             weir__reload_begin(out, set->shard[shard], &o,
	                                (struct weir_share){ .bits = set->bits,
	                                                     .shard = shard,
	                                                     .handles = set->shard });
}

int weir_rolling_reload(struct weir_rolling *set, const struct weir_reload_options *options,
                        weir_rolling_fill_fn *fill, void *context)
{
	if (!set || !fill)
		return weir__fail(-EINVAL, "%s is NULL: weir_rolling_reload needs it",
		                  set ? "fill" : "the set");
	for (uint32_t i = 0; i < set->shards; i++) {
		struct weir_reload *r;
		int err = weir_rolling_begin(&r, set, i, options);
		if (err)
			return err;
		err = fill(r, i, context);
		if (err) {
			weir_reload_abort(r);
			return err;
		}
		err = weir_reload_commit(r);
		if (err)
			return err;
	}
	return 0;
}

/* One shard's part of the set's statistics. */
static int add_stats(struct weir_rolling_stats *all, const struct weir_handle *h)
{
	struct weir_handle_stats one = WEIR_HANDLE_STATS_INIT;
	int err = weir_handle_measure(h, &one);
	if (err)
		return err;
	all->bytes += one.bytes;
	all->oldest = all->oldest && all->oldest < one.generation ? all->oldest : one.generation;
	all->newest = all->newest > one.generation ? all->newest : one.generation;
	all->fill += one.filter.fill / all->shards;
	all->fill_max = fmax(all->fill_max, one.filter.fill_max);
	all->keys_estimated += one.filter.keys_estimated;
	all->fp_rate_estimated += one.filter.fp_rate_estimated / all->shards;
	return 0;
}

int weir_rolling_stats(const struct weir_rolling *set, struct weir_rolling_stats *out)
{
	int err = weir__size_check(out, sizeof *out, "weir_rolling_stats");
	if (err)
		return err;
	struct weir_rolling_stats s = { .struct_size = out->struct_size, .shards = set->shards };
	for (uint32_t i = 0; !err && i < set->shards; i++)
		err = add_stats(&s, set->shard[i]);
	if (!err)
		memcpy(out, &s, out->struct_size);
	return err;
}
