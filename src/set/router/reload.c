/* SPDX-License-Identifier: MIT
 * The next router of a handle: made or checked (R4), then published by the steps of every reload
 * (set/reload/steps.c). */
#include <inttypes.h>
#include "ground/error.h"
#include "ground/threads.h"
#include "set/reload/reload.h"
#include "set/router/handle.h"

static struct weir_reload *reload_of(struct weir_router_reload *r)
{
	return (struct weir_reload *)(void *)r;
}

static int check_peak(const struct weir_handle *h, uint64_t bytes, uint64_t max_bytes)
{
	uint64_t held = weir__held_bytes(h, h->generation);
	if (!max_bytes || (bytes <= max_bytes && held <= max_bytes - bytes))
		return 0;
	return weir__fail(-EFBIG, "max_bytes %" PRIu64 ": %" PRIu64 " bytes are held and the next "
	                  "router needs %" PRIu64 " more", max_bytes, held, bytes);
}

/* R4. In one that takes no inserts those of the handle would be lost. */
static int check_given(const struct weir_handle *h, const struct weir_filter *next)
{
	const struct weir_generation *g = h->generation;
	if (next == g->current || next == g->previous)
		return weir__fail(-EINVAL, "next: it is a router that the handle has already");
	if (next->insert_error)
		return weir__insert_refused(next);
	return weir__router_alike(g->current, next);
}

/* Who stands by takes every insert. */
static int check_keeps(const struct weir_handle *h, const struct weir_router_reload_options *o)
{
	if (!o->keep_previous || !h->generation->current->insert_error)
		return 0;
	return weir__fail(-EROFS, "keep_previous: the current router is mapped read-only, and "
	                  "would miss what is inserted");
}

/* The handle is claimed. */
static int next_of(struct weir_filter **out, const struct weir_handle *h,
                   const struct weir_router_reload_options *o)
{
	const struct weir_filter *current = h->generation->current;
	int err = check_peak(h, o->next ? weir__router_filter(o->next)->bytes : current->bytes,
	                     o->max_bytes);
	if (!err)
		err = check_keeps(h, o);
	if (!err && o->next) {
		*out = weir__router_mut(o->next);
		return check_given(h, *out);
	}
	return err ? err : weir__router_like(out, current);
}

static int open_next(struct weir_reload **out, struct weir_handle *h,
                     const struct weir_router_reload_options *o)
{
	struct weir_reload_options of_filters = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_filter *next;
	of_filters.keep_previous = o->keep_previous;
	of_filters.defer_free = o->defer_free;
	int err = next_of(&next, h, o);
	if (err)
		return err;
	err = weir__reload_open(out, h, next, &of_filters);
	if (err && !o->next)
		weir_destroy(next);
	return err;
}

int weir_router_reload_begin(struct weir_router_reload **out, struct weir_router_handle *handle,
                             const struct weir_router_reload_options *options)
{
	WEIR__UNCANCELLED;
	struct weir_router_reload_options o = WEIR_ROUTER_RELOAD_OPTIONS_INIT;
	struct weir_handle *h = weir__router_handle(handle);
	struct weir_reload *r;
	if (!out || !handle)
		return weir__fail(-EINVAL, "%s is NULL: weir_router_reload_begin needs it",
		                  out ? "the handle" : "out");
	int err = weir__options_copy(&o, sizeof o, options, "weir_router_reload_options");
	if (!err)
		err = weir__writer_begin(h, "weir_router_reload_begin");
	if (err)
		return err;
	err = open_next(&r, h, &o);
	if (err)
		weir__writer_release(h);
	else
		*out = (struct weir_router_reload *)(void *)r;
	return err;
}

struct weir_router *weir_router_reload_next(struct weir_router_reload *r)
{
	return weir__router_of(reload_of(r)->next);
}

int weir_router_reload_copy(struct weir_router_reload *reload, uint64_t sets)
{
	const struct weir_reload *r = reload_of(reload);
	return weir__router_copy_sets(r->next, r->handle->generation->current, sets);
}

int weir_router_reload_commit(struct weir_router_reload *r)
{
	return weir_reload_commit(reload_of(r));
}

int weir_router_reload_abort(struct weir_router_reload *r)
{
	weir_reload_abort(reload_of(r));
	return 0;
}
