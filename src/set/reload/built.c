/* SPDX-License-Identifier: MIT
 * A reload that collects, and builds in its commit. */
#include "build/builder.h"
#include "filter/kinds.h"
#include "ground/error.h"
#include "set/reload/built.h"
#include "set/reload/next.h"

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
	weir__figure_store_relaxed(&h->collecting, 1);
	*out = r;
	return 0;
}

static uint64_t hash_of(const struct weir_reload *r, const struct weir_keys *keys, size_t at)
{
	const struct weir_given key = weir__keys_one(keys, at);
	return keys->hashes ? key.hash : weir_builder_hash(r->builder, key.key, key.len);
}

typedef int take_fn(struct weir_builder *b, const uint64_t *hashes, size_t n);

/* Give those that lie in the share to take. */
static int64_t each(struct weir_reload *r, const struct weir_keys *keys, size_t first, size_t n,
                    take_fn *take)
{
	uint64_t hashes[AT_A_TIME];
	for (size_t at = 0; at < n; at += AT_A_TIME) {
		const size_t some = n - at < AT_A_TIME ? n - at : AT_A_TIME;
		for (size_t i = 0; i < some; i++)
			hashes[i] = hash_of(r, keys, first + at + i);
		const size_t kept = weir__share_keep(&r->share, hashes, some);
		int err = take(r->builder, hashes, kept);
		if (err)
			return weir__stopped(at, err);
	}
	return 0;
}

int64_t weir__reload_add(struct weir_reload *r, const struct weir_keys *keys, size_t first,
                         size_t n)
{
	return each(r, keys, first, n, weir_builder_add_hashes);
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

static int exclude(struct weir_reload *r, const struct weir_keys *keys, size_t n)
{
	int err = cannot_exclude(r);
	return err ? err : (int)each(r, keys, 0, n, weir_builder_exclude_hashes);
}

int weir_reload_exclude_hashes(struct weir_reload *r, const uint64_t *hashes, size_t n)
{
	return exclude(r, &(struct weir_keys){ .hashes = hashes }, n);
}

int weir_reload_exclude_keys(struct weir_reload *r, const struct iovec *keys, size_t n)
{
	return exclude(r, &(struct weir_keys){ .vectors = keys }, n);
}

int weir_reload_exclude(struct weir_reload *r, const void *key, size_t len)
{
	const struct iovec one = { (void *)(uintptr_t)key, len };
	return weir_reload_exclude_keys(r, &one, 1);
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

/* The loader's pace, then its own progress. */
struct pacer {
	struct weir_turns turns;
	struct weir_builder_options given;
	bool stopped;
};

static int turn(void *pacer, uint64_t done, uint64_t total)
{
	struct pacer *p = pacer;
	(void)weir__pace_progress(&p->turns, done, total); /* which never stops */
	if (p->given.progress && p->given.progress(p->given.progress_arg, done, total))
		p->stopped = true;
	return p->stopped;
}

int weir__reload_build(struct weir_reload *r, bool *stopped)
{
	struct pacer pacer = { weir__pace_turns(&r->pace), r->builder->options, false };
	r->builder->options.progress = turn;
	r->builder->options.progress_arg = &pacer;
	int err = weir_builder_finish(r->builder, &r->next, NULL);
	if (!err)
		r->next->normal = r->handle->generation->current->normal;
	*stopped = pacer.stopped;
	return err;
}
