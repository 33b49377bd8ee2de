/* SPDX-License-Identifier: MIT
 * Makes a sharded set: the size of its shards, and the shards. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/build.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "set/sharded/sharded.h"

/* Return: the max_capacity of a shard of the growing kind, which refuses keys beyond max_capacity.
 * It is the mean plus six standard deviations, but at least the shard's capacity. */
static uint64_t shard_most(const struct weir_params *shard, uint32_t shards)
{
	double mean = (double)shard->growing.max_capacity / shards;
	uint64_t most = (uint64_t)(mean + 6 * sqrt(mean));
	return most > shard->capacity ? most : shard->capacity;
}

/* Return: the capacity of a shard. Hashes are random, so the number of keys in a shard is a Poisson
 * variable. A kind that is built once fails with more keys than its capacity, so its shards get the
 * mean plus six standard deviations. Shards of other kinds get the mean plus one deviation. */
static uint64_t shard_capacity(uint64_t capacity, uint32_t shards, bool built)
{
	double mean = (double)capacity / shards;
	return (uint64_t)ceil(mean + (built ? 6 : 1) * sqrt(mean));
}

/* Return: the hash_bits of a shard. They are log2(shards) fewer than @bits, since all hashes of a
 * shard have the same log2(shards) top bits. The least is 8. If @bits is 0, return 0. */
static uint32_t shard_hash_bits(uint32_t bits, uint32_t shards)
{
	const uint32_t left = bits - (uint32_t)__builtin_ctz(shards);
	return !bits ? 0 : left < 8 || left > 64 ? 8 : left;
}

/* Plan the whole set. If the capacity is unlimited (0), plan for one key. */
static int plan_one(const struct weir_params *params, struct weir_plan *plan)
{
	struct weir_params p = *params;
	if (weir_kind_can(p.kind, WEIR_CAN_BUILD) && !p.capacity)
		p.capacity = 1;
	return weir_plan_make(&p, plan);
}

/* Check that a shard can have this size. */
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

/* Compute the parameters of one shard: its part of the keys with a margin, and its part of the
 * bytes. */
static int shard_params(struct weir_params *out, struct weir_plan *whole,
                        const struct weir_params *params, uint32_t shards)
{
	struct weir_params given;
	if (shards < 2 || shards > 65536 || shards & (shards - 1))
		return weir__fail(-EINVAL, "options.shards %u: a power of two from 2 to "
		                           "65536", shards);
	int err = weir__params_copy(params, &given);
	if (!err)
		err = weir_kind_can(given.kind, WEIR_CAN_BUILD) ?
		              weir__params_check_open(&given, out) :
		              weir__params_check(&given, out);
	if (!err && weir_kind_can(out->kind, WEIR_CAN_ROUTE))
		err = weir__fail(-ENOTSUP, "options.shards %u: a router cannot be sharded: take "
		                 "several routers", shards);
	if (!err && out->text.steps)
		err = weir__fail(-ENOTSUP, "params.text.steps 0x%x: a sharded set takes keys as "
		                 "they are: normalise them by weir_text_key()", out->text.steps);
	if (!err && out->memory)
		err = weir__fail(
			-EINVAL,
			"params.memory: the shards of a set come and go in memory of their own");
	if (!err)
		err = plan_one(out, whole);
	if (err)
		return err;
	if (out->max_bytes && out->max_bytes / shards < 64)
		return weir__fail(-EINVAL, "max_bytes %llu: %u shards take 64 bytes each at least",
		                  (unsigned long long)out->max_bytes, shards);
	if (out->capacity)
		out->capacity =
			shard_capacity(out->capacity, shards,
			               weir_kind_can(out->kind, WEIR_CAN_BUILD));
	out->hash_bits = shard_hash_bits(out->hash_bits, shards);
	out->growing.max_capacity = out->growing.max_capacity ? shard_most(out, shards) : 0;
	out->max_bytes /= shards;
	return check_shard(out, shards);
}

int weir__empty_make(struct weir_filter **out, const struct weir_params *params)
{
	struct weir_params p;
	struct weir_builder *b;
	int err = weir__params_copy(params, &p);
	if (!err && !weir_kind_can(p.kind, WEIR_CAN_BUILD))
		return weir_create(out, params);
	p.capacity = 0; /* as small as possible */
	if (!err)
		err = weir_builder_create(&b, &p, NULL);
	if (err)
		return err;
	err = weir_builder_finish(out, b, NULL);
	weir_builder_destroy(b);
	return err;
}

static int add_shard(struct weir_sharded *set, struct weir_params *params,
                     const struct weir_handle_options *options)
{
	struct weir_filter *f;
	struct weir_handle **shard = &set->shard[set->shards];
	int err = weir__empty_make(&f, params);
	if (err)
		return err;
	err = weir__abilities_check(weir_can(f, WEIR_CAN_ALL), options->can, f->kind,
	                            "each shard of the handle");
	if (!err)
		err = weir__handle_make(shard, f, NULL, options);
	if (err) {
		weir_destroy(f);
		return err;
	}
	(*shard)->whole = &set->handle; /* [SHARD-CLAIM] */
	params->seed = f->hashing.seed; /* all shards get the seed of the first shard */
	set->hashing = f->hashing;
	set->shards++;
	return 0;
}

/* [SHARD-VIEW]: make the view and the set's own record. */
static int add_view(struct weir_sharded *set, const struct weir_handle_options *options,
                    const struct weir_plan *whole)
{
	struct weir_filter *view;
	int err = weir__view_make(&view, set, whole);
	if (err)
		return err;
	err = weir__handle_init(&set->handle, view, options);
	if (err) {
		weir_destroy(view);
		return err;
	}
	set->handle.verbs = weir__sharded_verbs;
	set->handle.sharded = set;
	return 0;
}

static struct weir_sharded *alloc(uint32_t shards)
{
	struct weir_sharded *set = NULL;
	const size_t bytes = sizeof *set + shards * sizeof set->shard[0];
	if (posix_memalign((void **)&set, 64, bytes)) {
		(void)weir__fail(-ENOMEM, "no memory for the table of %u shards", shards);
		return NULL;
	}
	memset(set, 0, bytes);
	set->bits = (unsigned)__builtin_ctz(shards);
	return set;
}

int weir__sharded_make(struct weir_handle **out, const struct weir_handle_options *options)
{
	struct weir_params p;
	struct weir_plan whole = WEIR_PLAN_INIT;
	int err = shard_params(&p, &whole, options->params, options->shards);
	struct weir_sharded *set = err ? NULL : alloc(options->shards);
	if (!set)
		return err ? err : -ENOMEM;
	while (!err && set->shards < options->shards)
		err = add_shard(set, &p, options);
	if (!err)
		err = add_view(set, options, &whole);
	if (err) {
		for (uint32_t i = 0; i < set->shards; i++)
			weir__handle_free(set->shard[i]); /* not published yet */
		free(set);
		return err;
	}
	set->params = p;
	set->params.secret = weir__keyed(&set->hashing) ? set->hashing.key : NULL;
	*out = &set->handle;
	return 0;
}
