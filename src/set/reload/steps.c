/* SPDX-License-Identifier: MIT
 * Reload: which records are published, and when the old ones are freed. The rules are in
 * generation.h.
 *
 *     begin   record {current, next, previous}   grace period   free the old record
 *     commit  record {next, -, current if kept}  grace period   free the old record, the old
 *                                                current unless kept, the old previous
 *     abort   record {current, -, previous}      grace period   free the old record, next
 *
 * begin allocates the records for the commit or abort, so both can publish when memory is short. (A
 * commit that builds its filter may still fail in the build.) */
#include <stdlib.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "ground/system.h"
#include "router/router.h"
#include "set/reload/reload.h"

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

void weir__reload_free(struct weir_reload *r)
{
	weir_destroy(r->next);
	weir_builder_destroy(r->builder);
	free(r->after);
	free(r->retired);
	free(r);
}

int weir__reload_open(struct weir_reload **out, struct weir_handle *h, struct weir_filter *next,
                      const struct weir_reload_options *options)
{
	const struct weir_generation *g = h->generation;
	struct weir_generation *during = weir__record(g->current, next, g->previous, g->number);
	int err = during ? weir__reload_alloc(out, h, options) : no_memory();
	(void)weir__flag_claim_acquire(&next->owned); /* weir__next_take() may have done this */
	if (err) {
		weir__flag_release(&next->owned);
		free(during);
		return err;
	}
	during->since = g->since;
	struct weir_generation *before = weir__publish(h, during);
	weir__synchronize(&h->rcu); /* [BEGIN-WAITS] */
	free(before);               /* [FREE-AFTER-GRACE] */
	(*out)->next = next;
	(*out)->since = weir__seconds();
	return 0;
}

int weir__reload_copy(struct weir_reload *r, uint64_t sets)
{
	const struct weir_filter *current = r->handle->generation->current;
	if (r->handle->absence)
		return 0; /* [PLACEHOLDER]: the kept keys were replayed */
	struct weir_turns turns = weir__pace_turns(&r->pace);
	const uint64_t all = weir__all_sets(current);
	int err = weir__carry_check(r->next, current);
	if (!err && ~sets & all) {
		if (sets & all)
			weir__router_copy_sets(r->next, current, sets);
		return 0;
	}
	return err ? err : weir__merge(r->next, current, weir__pace_progress, &turns);
}

/* Publish r->after = @after. After a grace period free the old record and the filters @unused and
 * @unused_too. Release the claim. */
static void close_with(struct weir_reload *r, struct weir_generation after,
                       struct weir_filter *unused, struct weir_filter *unused_too, bool defer)
{
	struct weir_handle *h = r->handle;
	*r->after = after;
	weir__figure_store_relaxed(&h->whole->collecting, 0);
	r->retired->filters[0] = unused;
	r->retired->filters[1] = unused_too;
	r->retired->records[0] = weir__publish(h, r->after);
	if (after.current == r->next)
		weir__pace_warm(&r->pace, r->next);
	weir__retire(h, r->retired, defer);
	weir_builder_destroy(r->builder);
	free(r);
	weir__writer_release(h);
}

/* End a reload of a kind that is built once. Such a reload publishes nothing before its commit. */
static void drop_unpublished(struct weir_reload *r)
{
	struct weir_handle *h = r->handle;
	weir__figure_store_relaxed(&h->whole->collecting, 0);
	weir__reload_free(r);
	weir__writer_release(h);
}

static struct weir_generation without_next(const struct weir_reload *r)
{
	const struct weir_generation *g = r->handle->generation;
	return (struct weir_generation){ .current = g->current,
	                                 .previous = g->previous,
	                                 .number = g->number,
	                                 .since = g->since };
}

void weir__reload_drop(struct weir_reload *r)
{
	if (r->builder) {
		drop_unpublished(r);
		return;
	}
	bool defer = r->options.defer_free || weir__in_section(&r->handle->rcu);
	close_with(r, without_next(r), r->handle->generation->next, NULL, defer);
}

void weir__reload_give_back(struct weir_reload *r)
{
	struct weir_filter *next = r->next;
	close_with(r, without_next(r), NULL, NULL, false);
	weir__flag_release(&next->owned);
}

int weir__reload_ask(struct weir_reload *r, weir_progress_fn *progress, void *progress_arg)
{
	return weir__gate_ask(r->options.gate, r->next, &r->share, progress, progress_arg);
}

void weir__reload_close(struct weir_reload *r, double began)
{
	struct weir_handle *h = r->handle;
	const struct weir_generation *g = h->generation;
	bool keep = r->options.keep_previous && !h->absence; /* [PLACEHOLDER]: not kept */
	struct weir_generation after = { .current = r->next,
	                                 .previous = keep ? g->current : NULL,
	                                 .number = g->number + 1,
	                                 .since = weir__seconds() };
	r->retired->absence = h->absence;
	h->absence = NULL;
	if (keep)
		weir__standby_open_relaxed(&g->current->standby); /* [REFUSED-KEY]: not void yet */
	weir__figure_add_relaxed(&h->whole->swaps, 1);
	weir__figure_store_relaxed(&h->whole->reload_ns,
	                           (uint64_t)((after.since - began) * 1e9));
	weir__refusal_ends(h->whole);
	close_with(r, after, keep ? NULL : g->current, g->previous, r->options.defer_free);
}

int weir__reload_replay(struct weir_reload *r)
{
	struct weir_absence *absence = r->handle->absence;
	uint64_t dropped;
	if (!absence)
		return 0;
	int err = weir__absence_replay(absence, r->next, &dropped);
	if (!err)
		weir__figure_store_relaxed(&r->handle->kept_dropped, dropped);
	return err;
}
