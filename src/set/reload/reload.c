/* SPDX-License-Identifier: MIT
 * The functions of a reload. set/reload/steps.c has the records that they publish. */
#include <string.h>
#include "ground/error.h"
#include "ground/system.h"
#include "ground/threads.h"
#include "kind/batch.h"
#include "set/reload/reload.h"

/* Make the next filter and publish it. */
static int open_new(struct weir_reload **out, struct weir_handle *h,
                    const struct weir_reload_options *options)
{
	struct weir_filter *next = NULL;
	struct weir_pace pace;
	weir__pace_make(&pace, &h->rcu, options->pace);
	struct weir_turns turns = weir__pace_turns(&pace);
	int err = weir__next_make(&next, h, options);
	if (err)
		return err;
	(void)weir__pace_touch(&pace, next, weir__pace_progress, &turns); /* never stops */
	weir__pace_settle(&pace);
	err = weir__reload_open(out, h, next, options);
	if (err)
		weir_destroy(next);
	return err;
}

/* Publish the caller's filter as the next filter. */
static int open_given(struct weir_reload **out, struct weir_handle *h,
                      const struct weir_reload_options *options)
{
	struct weir_pace pace;
	weir__pace_make(&pace, &h->rcu, options->pace);
	struct weir_turns turns = weir__pace_turns(&pace);
	int err = weir__next_take(h, options);
	if (err)
		return err;
	/* never stops */
	(void)weir__pace_touch(&pace, options->next, weir__pace_progress, &turns);
	weir__pace_settle(&pace);
	return weir__reload_open(out, h, options->next, options);
}

static int open_next(struct weir_reload **out, struct weir_handle *h,
                     const struct weir_reload_options *options)
{
	if (options->next)
		return open_given(out, h, options);
	return weir__next_is_built(h, options) ? weir__reload_collect(out, h, options) :
	                                         open_new(out, h, options);
}

static int open_reload(struct weir_reload **out, struct weir_handle *h,
                       const struct weir_reload_options *options, const struct weir_share *share)
{
	struct weir_reload *r;
	int err = open_next(&r, h, options);
	if (err) {
		weir__writer_release(h);
		return err;
	}
	r->share = *share;
	err = r->builder ? 0 : weir__reload_replay(r);
	if (!err)
		*out = r;
	else if (options->next)
		weir__reload_give_back(r);
	else
		weir__reload_drop(r);
	return err;
}

/* Refuse the options that a sharded set cannot have. */
static int check_shard(const struct weir_sharded *set, const struct weir_reload_options *o)
{
	const char *refused = o->params        ? "params" :
	                      o->next          ? "next" :
	                      o->max_bytes     ? "max_bytes" :
	                      o->keep_previous ? "keep_previous" :
	                      o->defer_free    ? "defer_free" :
	                                         NULL;
	if (o->shard >= set->shards)
		return weir__fail(-EINVAL, "options.shard %u: allowed: 0 to %u", o->shard,
		                  set->shards - 1);
	return refused ? weir__fail(-EINVAL, "options.%s: a sharded set has a fixed size, and its "
	                            "peak is the set and one shard", refused) : 0;
}

/* Set @at to the handle of the shard, and @share to the keys that belong to it. */
static int find_shard(struct weir_handle **at, struct weir_share *share,
                      struct weir_reload_options *o)
{
	const struct weir_sharded *set = (*at)->sharded;
	if (!set)
		return o->shard ? weir__fail(-EINVAL, "options.shard %u: the handle has one "
		                             "filter", o->shard) : 0;
	int err = check_shard(set, o);
	if (!err && o->gate)
		err = weir__gate_check_set(o->gate);
	if (err)
		return err;
	if (weir_kind_can(set->params.kind, WEIR_CAN_BUILD))
		o->params = &set->params; /* all other kinds copy the shard's size */
	*share = (struct weir_share){ set->bits, o->shard, set->shard };
	*at = set->shard[o->shard];
	return 0;
}

int weir_reload_begin(struct weir_reload **out, struct weir_handle *h,
                      const struct weir_reload_options *options)
{
	WEIR__UNCANCELLED;
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_share share = { 0 };
	struct weir_gate gate;
	if (!out || !h)
		return weir__fail(-EINVAL, "%s is NULL: weir_reload_begin needs it",
		                  out ? "the handle" : "out");
	int err = weir__options_copy(&o, sizeof o, options, "weir_reload_options");
	if (!err)
		err = weir__gate_take(&gate, &o.gate);
	if (!err)
		err = weir__pace_check(o.pace);
	if (!err)
		err = find_shard(&h, &share, &o);
	if (!err)
		err = weir__writer_begin(h, "weir_reload_begin");
	if (err)
		return err;
	weir__standby_free(h);
	return open_reload(out, h, &o, &share);
}

/* Replace one shard for weir_reload_all(). */
static int replace(struct weir_handle *h, const struct weir_reload_options *options,
                   weir_reload_fill_fn *fill, void *context)
{
	struct weir_reload *r;
	int err = weir_reload_begin(&r, h, options);
	if (err)
		return err;
	err = fill(r, options->shard, context);
	if (err) {
		weir_reload_abort(r);
		return err;
	}
	return weir_reload_commit(r);
}

int weir_reload_all(struct weir_handle *h, const struct weir_reload_options *options,
                    weir_reload_fill_fn *fill, void *context)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	if (!h || !fill)
		return weir__fail(-EINVAL, "%s is NULL: weir_reload_all needs it",
		                  h ? "fill" : "the handle");
	int err = weir__options_copy(&o, sizeof o, options, "weir_reload_options");
	o.struct_size = sizeof o; /* fields that an older header lacks have their defaults */
	for (o.shard = 0; !err && o.shard < weir_handle_shards(h); o.shard++)
		err = replace(h, &o, fill, context);
	return err;
}

/* Insert a hash into the next filter, if it belongs to the shard. */
static int insert_made(struct weir_reload *r, uint64_t hash)
{
	if (r->share.bits) {
		if (weir__share_shard(r->share.bits, hash) != r->share.shard)
			return WEIR_SEEN;
		hash = weir__share_hash(r->share.bits, hash);
	}
	return weir__insert_made(r->next, hash);
}

static int insert_one(struct weir_reload *r, struct weir_keys key)
{
	uint64_t hash;
	if (r->builder)
		return (int)weir__reload_add(r, key);
	if (key.form == WEIR_KEYS_HASHES && weir__text_several(&r->next->text))
		return weir__text_refuse_hash(&r->next->text);
	return weir__hashes_to_insert(r->next, key, &hash) ? insert_made(r, hash) : -EINVAL;
}

/* Insert a batch of one key. */
static int64_t insert_single(struct weir_reload *r, struct weir_keys key)
{
	uint64_t began = weir__pace_single_begin(&r->pace);
	int answer = insert_one(r, key);
	weir__pace_single_end(&r->pace, began);
	return answer < 0 ? weir__stopped(0, answer) : answer;
}

/* Insert a batch, in pieces if there is a pace. */
static int64_t insert(struct weir_reload *r, struct weir_keys keys, uint64_t *bitmap)
{
	const size_t n = keys.n, piece = r->pace.asked ? WEIR__PACE_PIECE : n;
	size_t at = 0;
	uint64_t began = weir__pace_begin(&r->pace);
	int64_t inserted = 0;
	do {
		const struct weir_keys some =
			weir_keys_part(keys, at, n - at < piece ? n - at : piece);
		uint64_t *answers = bitmap ? bitmap + at / 64 : NULL;
		int64_t answer = r->builder ? weir__reload_add(r, some) :
		                              weir__share_insert(&r->share, r->next, some, answers);
		if (answer < 0) {
			(void)weir__answer_all(false, n - at - some.n,
			                       bitmap ? bitmap + (at + some.n) / 64 : NULL);
			return weir__stopped(at + weir_error_taken(), answer);
		}
		at += some.n;
		inserted += answer;
		began = weir__pace_turn(&r->pace, began);
	} while (at < n);
	return inserted;
}

int64_t weir_reload_insert_keys(struct weir_reload *r, struct weir_keys keys, uint64_t *bitmap)
{
	if (keys.n && !weir__keys_form(keys))
		return weir__stopped(0, weir__keys_refused());
	if (bitmap && r->builder)
		(void)weir__answer_all(false, keys.n, bitmap);
	return keys.n == 1 && !bitmap ? insert_single(r, keys) : insert(r, keys, bitmap);
}

int64_t weir_reload_insert_into_keys(struct weir_reload *r, uint32_t set, struct weir_keys keys,
                                     uint64_t *bitmap)
{
	if (set == 0 && (r->builder || !r->next->kernel->route))
		return weir_reload_insert_keys(r, keys, bitmap);
	if (r->builder) /* a filter that is built once has one set */
		return weir__stopped(0, weir__fail(-EINVAL, "set %u: the next filter has one, 0",
		                                   set));
	uint64_t began = weir__pace_begin(&r->pace);
	int64_t answer = weir_insert_into_keys(r->next, set, keys, bitmap);
	(void)weir__pace_turn(&r->pace, began);
	return answer;
}

int weir_reload_copy(struct weir_reload *r, uint64_t sets)
{
	return r->builder ? weir__reload_cannot_copy(r) : weir__reload_copy(r, sets);
}

int weir_reload_measure(const struct weir_reload *r, struct weir_reload_stats *out)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	int err = weir__size_check(out, sizeof *out, "weir_reload_stats");
	if (!err)
		err = r->builder ? 0 : weir_measure(r->next, WEIR_SAMPLED, &stats);
	if (err)
		return err;
	if (r->builder)
		weir__reload_collected(r, &stats);
	struct weir_reload_stats p = { .struct_size = out->struct_size,
	                                  .keys = stats.keys_estimated,
	                                  .share = stats.capacity ? stats.keys_estimated /
	                                           (double)stats.capacity : 0,
	                                  .seconds = weir__seconds() - r->since };
	memcpy(out, &p, out->struct_size);
	return 0;
}

const struct weir_filter *weir_reload_next(const struct weir_reload *r)
{
	return r->next;
}

/* Build the next filter, before the gate. If the loader's own progress stops the build, that does
 * not count as a failure. */
static int build(struct weir_reload *r)
{
	bool stopped;
	int err = weir__reload_build(r, &stopped);
	if (err && !stopped) {
		weir__figure_add_relaxed(&r->handle->whole->failed, 1);
		weir__refusal_begins(r->handle->whole);
	}
	return err;
}

/* Check that the hashes are uniform, unless the gate or the builder checks that. Skip a filter that
 * the caller gave: it may be mapped, and the check would read all of it. */
static int ask_hashes(const struct weir_reload *r)
{
	if (r->options.gate || r->options.next || r->builder)
		return 0;
	return weir__hashes_check(r->next, "weir_reload_commit refused") ? -ECANCELED : 0;
}

static int ask(struct weir_reload *r)
{
	struct weir_turns turns = weir__pace_turns(&r->pace);
	int err = weir__reload_ask(r, weir__pace_progress, &turns);
	if (!err)
		err = ask_hashes(r);
	if (err) {
		weir__figure_add_relaxed(&r->handle->whole->refused, 1);
		weir__refusal_begins(r->handle->whole);
	}
	return err;
}

int weir_reload_commit(struct weir_reload *r)
{
	WEIR__UNCANCELLED;
	if (weir__in_section(&r->handle->rcu))
		return weir__fail(-EDEADLK, "weir_reload_commit inside a read-side section: it "
		                            "would wait for its own caller");
	int err = r->builder ? build(r) : 0;
	if (!err)
		err = ask(r);
	weir__pace_settle(&r->pace);
	if (err)
		weir__reload_drop(r);
	else
		weir__reload_close(r, r->since);
	return err;
}

int weir_reload_abort(struct weir_reload *r)
{
	WEIR__UNCANCELLED;
	if (r)
		weir__reload_drop(r);
	return 0;
}
