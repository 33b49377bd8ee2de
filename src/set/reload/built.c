/* SPDX-License-Identifier: MIT
 * A reload that collects keys and builds its filter in the commit. */
#include "build/builder.h"
#include "filter/filter.h"
#include "ground/error.h"
#include "kind/batch.h"
#include "set/reload/reload.h"

enum { AT_A_TIME = 256 };

int weir__reload_collect(struct weir_reload **out, struct weir_handle *h,
                         const struct weir_reload_options *options)
{
	struct weir_reload *r;
	int err = weir__reload_alloc(&r, h, options);
	if (err)
		return err;
	err = weir__next_collect(&r->builder, h, options);
	if (err) {
		weir__reload_free(r);
		return err;
	}
	weir__figure_store_relaxed(&h->whole->collecting, 1);
	*out = r;
	return 0;
}

typedef int take_fn(struct weir_builder *b, struct weir_keys keys);

/* Call @take with the keys that belong to the reload: all keys, or the keys of its shard. */
static int64_t each(struct weir_reload *r, struct weir_keys keys, take_fn *take)
{
	uint64_t hashes[AT_A_TIME];
	for (size_t at = 0; at < keys.n; at += AT_A_TIME) {
		const size_t some = keys.n - at < AT_A_TIME ? keys.n - at : AT_A_TIME;
		struct weir_keys part = weir_keys_part(keys, at, some);
		if (r->share.bits) {
			weir_builder_hash_keys(r->builder, part, hashes);
			part = weir_keys_hashes(hashes,
			                        weir__share_keep(&r->share, hashes, some));
		}
		int err = take(r->builder, part);
		if (err)
			return weir__stopped(at + weir_error_taken(), err);
	}
	return 0;
}

int64_t weir__reload_add(struct weir_reload *r, struct weir_keys keys)
{
	return each(r, keys, weir_builder_add_keys);
}

/* ---- the exclude list ---- */

static int cannot_exclude(const struct weir_reload *r)
{
	return r->builder ? 0 : weir__kind_cannot(r->next->kind, "take an exclude list");
}

int weir_reload_seal(struct weir_reload *r)
{
	int err = cannot_exclude(r);
	return err ? err : weir_builder_seal(r->builder);
}

int weir_reload_exclude_keys(struct weir_reload *r, struct weir_keys keys)
{
	int err = cannot_exclude(r);
	if (!err && keys.n && !weir__keys_form(keys))
		err = weir__keys_refused();
	return err ? err : (int)each(r, keys, weir_builder_exclude_keys);
}

void weir__reload_collected(const struct weir_reload *r, struct weir_stats *out)
{
	out->keys_estimated = (double)weir__builder_added(r->builder);
	out->capacity = r->builder->params.capacity;
}

int weir__reload_cannot_copy(const struct weir_reload *r)
{
	return weir__kind_cannot(weir__kind(r->builder->params.kind),
	                         "take over what another filter holds: give its keys");
}

/* Keeps the loader's pace, and calls the loader's own progress. */
struct pacer {
	struct weir_turns turns;
	struct weir_builder_options given;
	bool stopped;
};

static int turn(void *pacer, uint64_t done, uint64_t total)
{
	struct pacer *p = pacer;
	(void)weir__pace_progress(&p->turns, done, total); /* always 0 */
	if (p->given.progress && p->given.progress(p->given.progress_arg, done, total))
		p->stopped = true;
	return p->stopped;
}

int weir__reload_build(struct weir_reload *r, bool *stopped)
{
	struct pacer pacer = { weir__pace_turns(&r->pace), r->builder->options, false };
	r->builder->options.progress = turn;
	r->builder->options.progress_arg = &pacer;
	int err = weir_builder_finish(&r->next, r->builder, NULL);
	*stopped = pacer.stopped;
	return err;
}
