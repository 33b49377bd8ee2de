/* SPDX-License-Identifier: MIT
 * Reload: which records are published, and when the old ones are freed. The rules H1 to H13 are in
 * generation.h.
 *
 *     begin   record {current, next, previous}   grace period   free the old record
 *     commit  record {next, -, current if kept}  grace period   free both old records, the old
 *                                                current unless kept, the old previous
 *     abort   record {current, -, previous}      grace period   free both old records, next
 *
 * All that a commit or an abort will need is allocated by begin, so that neither can fail for
 * want of memory. */
#include <stdlib.h>
#include <string.h>
#include "cancel.h"
#include "error.h"
#include "options.h"
#include "set/next.h"
#include "set/reload.h"
#include "set/reload_built.h"
#include "whole.h"

static int no_memory(void)
{
	return weir__fail(-ENOMEM, "no memory for a reload's records");
}

int weir__reload_alloc(struct weir_reload **out, struct weir_handle *h,
                       const struct weir_reload_options *options)
{
	struct weir_reload *r = malloc(sizeof *r);
	struct weir_generation *after = weir__record(NULL, NULL, NULL, 0);
	struct weir_retired *retired = calloc(1, sizeof *retired);
	if (!r || !after || !retired) {
		free(r);
		free(after);
		free(retired);
		return no_memory();
	}
	*r = (struct weir_reload){ .handle = h,
	                           .after = after,
	                           .retired = retired,
	                           .since = weir__seconds(),
	                           .options = *options };
	weir__pace_make(&r->pace, &h->rcu, options->pace);
	if (options->gate) {
		r->gate = *options->gate;
		r->options.gate = &r->gate;
	}
	*out = r;
	return 0;
}

int weir__reload_open(struct weir_reload **out, struct weir_handle *h, struct weir_filter *next,
                      const struct weir_reload_options *options)
{
	const struct weir_generation *g = h->generation;
	struct weir_generation *during = weir__record(g->current, next, g->previous, g->number);
	int err = during ? weir__reload_alloc(out, h, options) : no_memory();
	if (err) {
		free(during);
		return err;
	}
	during->since = g->since;
	struct weir_generation *before = weir__publish(h, during);
	weir__synchronize(&h->rcu); /* H2 */
	free(before);               /* H3 */
	(*out)->next = next;
	(*out)->since = weir__seconds();
	return 0;
}

/* Publish r->after, leave to a grace period what it no longer names, and let the next writer in. */
static void close_with(struct weir_reload *r, struct weir_generation after,
                       struct weir_filter *gone, struct weir_filter *gone_too, bool defer)
{
	struct weir_handle *h = r->handle;
	*r->after = after;
	weir__figure_store_relaxed(&h->collecting, 0);
	r->retired->filters[0] = gone;
	r->retired->filters[1] = gone_too;
	r->retired->records[0] = weir__publish(h, r->after);
	if (after.current == r->next)
		weir__pace_warm(&r->pace, r->next);
	weir__retire(h, r->retired, defer);
	weir_builder_destroy(r->builder);
	free(r);
	weir__writer_release(h);
}

void weir__reload_drop(struct weir_reload *r)
{
	const struct weir_generation *g = r->handle->generation;
	if (r->builder) {
		weir__reload_drop_built(r);
		return;
	}
	struct weir_generation after = { .current = g->current,
	                                 .previous = g->previous,
	                                 .number = g->number,
	                                 .since = g->since };
	bool defer = r->options.defer_free || weir__in_section(&r->handle->rcu);
	close_with(r, after, g->next, NULL, defer);
}

int weir__reload_ask(struct weir_reload *r, weir_progress_fn *progress, void *progress_arg)
{
	return weir__gate_ask(r->options.gate, r->next, &r->share, progress, progress_arg);
}

void weir__reload_close(struct weir_reload *r, double began)
{
	struct weir_handle *h = r->handle;
	const struct weir_generation *g = h->generation;
	bool keep = r->options.keep_previous && !h->absence; /* H10 */
	struct weir_generation after = { .current = r->next,
	                                 .previous = keep ? g->current : NULL,
	                                 .number = g->number + 1,
	                                 .since = weir__seconds() };
	r->retired->absence = h->absence;
	h->absence = NULL;
	if (keep)
		weir__standby_open_relaxed(&g->current->standby); /* H12 */
	weir__figure_add_relaxed(&h->swaps, 1);
	weir__figure_store_relaxed(&h->reload_ns, (uint64_t)((after.since - began) * 1e9));
	weir__refusal_ends(h);
	close_with(r, after, keep ? NULL : g->current, g->previous, r->options.defer_free);
}

int weir__reload_replay(struct weir_reload *r)
{
	struct weir_absence *absence = r->handle->absence;
	return absence ? weir__absence_replay(absence, r->next) : 0;
}

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
	(void)weir__pace_touch(&pace, next, weir__pace_progress, &turns); /* which never stops */
	weir__pace_settle(&pace);
	err = weir__reload_open(out, h, next, options);
	if (err)
		weir_destroy(next);
	return err;
}

/* ---- the public verbs ---- */

int weir__reload_begin(struct weir_reload **out, struct weir_handle *h,
                       const struct weir_reload_options *options, struct weir_share share)
{
	WEIR__UNCANCELLED;
	struct weir_reload_options o = *options;
	struct weir_reload *r;
	struct weir_gate gate;
	int err = weir__gate_take(&gate, &o.gate);
	if (!err)
		err = weir__pace_check(o.pace);
	if (!err && o.gate && share.bits)
		err = weir__gate_check_set(o.gate);
	if (!err)
		err = weir__writer_begin(h, "weir_reload_begin");
	if (err)
		return err;
	weir__standby_free(h);
	err = weir__next_is_built(h, &o) ? weir__reload_collect(&r, h, &o) : open_new(&r, h, &o);
	if (err) {
		weir__writer_release(h);
		return err;
	}
	r->share = share;
	if (r->builder) {
		*out = r;
		return 0;
	}
	err = weir__reload_replay(r);
	if (err)
		weir__reload_drop(r);
	else
		*out = r;
	return err;
}

int weir_reload_begin(struct weir_reload **out, struct weir_handle *h,
                      const struct weir_reload_options *options)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	if (!out || !h)
		return weir__fail(-EINVAL, "%s is NULL: weir_reload_begin needs it",
		                  out ? "the handle" : "out");
	int err = weir__options_copy(&o, sizeof o, options, "weir_reload_options");
	return err ? err : weir__reload_begin(out, h, &o, (struct weir_share){ 0 });
}

static int insert_one(struct weir_reload *r, uint64_t hash)
{
	if (r->share.bits) {
		if (weir__share_shard(r->share.bits, hash) != r->share.shard)
			return WEIR_SEEN;
		hash = weir__share_hash(r->share.bits, hash);
	}
	return r->builder ? weir_builder_add_hash(r->builder, hash) :
	                    weir_insert_hash(r->next, hash);
}

int weir_reload_insert_hash(struct weir_reload *r, uint64_t hash)
{
	uint64_t began = weir__pace_single_begin(&r->pace);
	int answer = insert_one(r, hash);
	weir__pace_single_end(&r->pace, began);
	return answer;
}

int weir_reload_insert(struct weir_reload *r, const void *key, size_t len)
{
	uint64_t began = weir__pace_single_begin(&r->pace);
	int answer = insert_one(r, r->builder ? weir_builder_hash(r->builder, key, len) :
	                                        weir_hash(r->next, key, len));
	weir__pace_single_end(&r->pace, began);
	return answer;
}

/* With a pace piece by piece. */
static int64_t insert(struct weir_reload *r, const struct weir_keys *keys, size_t n)
{
	size_t piece = r->pace.asked ? WEIR__PACE_PIECE : n, at = 0;
	uint64_t began = weir__pace_begin(&r->pace);
	int64_t inserted = 0;
	do {
		size_t some = n - at < piece ? n - at : piece;
		int64_t answer = r->builder ?
			weir__reload_add(r, keys, at, some) :
			weir__share_insert(&r->share, r->next, keys, at, some);
		if (answer < 0)
			return weir__stopped(at + weir_error_taken(), answer);
		inserted += answer;
		at += some;
		began = weir__pace_turn(&r->pace, began);
	} while (at < n);
	return inserted;
}

int64_t weir_reload_insert_hashes(struct weir_reload *r, const uint64_t *hashes, size_t n)
{
	return insert(r, &(struct weir_keys){ .hashes = hashes }, n);
}

int64_t weir_reload_insert_keys(struct weir_reload *r, const struct iovec *keys, size_t n)
{
	return insert(r, &(struct weir_keys){ .vectors = keys }, n);
}

int64_t weir_reload_insert_fixed(struct weir_reload *r, const void *keys, size_t key_bytes,
                                 size_t n)
{
	return insert(r, &(struct weir_keys){ .fixed = keys, .key_bytes = key_bytes }, n);
}

int weir_reload_copy(struct weir_reload *r)
{
	const struct weir_filter *current = r->handle->generation->current;
	if (r->builder)
		return weir__reload_cannot_copy(r);
	if (r->handle->absence)
		return 0; /* H10: it was replayed */
	struct weir_turns turns = weir__pace_turns(&r->pace);
	int err = weir__carry_check(r->next, current);
	return err ? err : weir__merge(r->next, current, weir__pace_progress, &turns);
}

int weir_reload_progress(const struct weir_reload *r, struct weir_reload_progress *out)
{
	struct weir_stats stats = WEIR_STATS_INIT;
	int err = weir__size_check(out, sizeof *out, "weir_reload_progress");
	if (!err)
		err = r->builder ? 0 : weir_stats(r->next, &stats);
	if (err)
		return err;
	if (r->builder)
		weir__reload_collected(r, &stats);
	struct weir_reload_progress p = { .struct_size = out->struct_size,
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

int weir_reload_commit(struct weir_reload *r)
{
	WEIR__UNCANCELLED;
	if (weir__in_section(&r->handle->rcu))
		return weir__fail(-EDEADLK, "weir_reload_commit inside a read-side section: it "
		                            "would wait for its own caller");
	int err = r->builder ? weir__reload_build(r) : 0;
	struct weir_turns turns = weir__pace_turns(&r->pace);
	if (!err)
		err = weir__reload_ask(r, weir__pace_progress, &turns);
	weir__pace_settle(&r->pace);
	if (err) {
		weir__figure_add_relaxed(&r->handle->refused, 1);
		weir__refusal_begins(r->handle);
		weir__reload_drop(r);
	} else {
		weir__reload_close(r, r->since);
	}
	return err;
}

void weir_reload_abort(struct weir_reload *r)
{
	WEIR__UNCANCELLED;
	if (r)
		weir__reload_drop(r);
}
