/* SPDX-License-Identifier: MIT
 * Refreshes a handle's filter from a file that is replaced from time to time. The file is checked
 * before anything is published. The rest is a reload whose next filter exists already: begin,
 * carry, the gate (struct weir_gate), commit, by the rules of generation.h.
 *
 * Carry adds the current filter's keys to the next filter, so the gate comes after it. A refusal is
 * a verdict on the file alone (WEIR_VERDICT_BAD), or on the file and the current filter together
 * (WEIR_VERDICT_UNFIT). The sanity checks and carry give the second verdict, and so does the gate
 * with carry. A verdict on the file alone is remembered until the file changes. A verdict on both
 * is remembered until the file or the generation changes:
 *  - With carry, inserts only add bits to the current filter as long as it stays current. A file
 *    that was too full, or had a key of must_miss, would be refused again, so it is not read again.
 *  - After a reload, rollback or refresh the same file may pass.
 * If progress stops a step or memory is short, there is no verdict. */
#include <fcntl.h>
#include <weir/refresh.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "ground/system.h"
#include "ground/threads.h"
#include "set/follow/follow.h"
#include "set/reload/reload.h"

/* Check that the image hashes like the current filter, unless the handle allows any seed. */
static int check_hashing(const struct weir_refresh_run *l, const struct weir_filter *next)
{
	if (l->handle->flags & WEIR_HANDLE_ANY_SEED)
		return 0;
	int err = weir__same_hashing_check(l->handle->generation->current, &next->hashing,
	                                   l->source->name);
	return err ? weir__fail(err, "%s: build it with weir build --like=IMAGE of one that was "
	                             "taken, or give the handle WEIR_HANDLE_ANY_SEED",
	                        weir_error_detail()) : 0;
}

/* Make a filter of the file, and check that it may be published. */
static int prepare(struct weir_filter **out, struct weir_refresh_run *l)
{
	const struct weir_filter *current = l->handle->generation->current;
	struct weir_filter *next = NULL;
	int err = weir__refresh_read(&next, l);
	if (err)
		return err;
	l->verdict = WEIR_VERDICT_BAD; /* the image is intact, but may have another seed */
	err = check_hashing(l, next);
	if (!err)
		err = weir__same_steps_check(l->handle, &next->text, l->source->name);
	if (!err)
		err = weir__same_sets_check(l->handle, next, l->source->name);
	if (!err) {
		/* [PLACEHOLDER]: a placeholder has no keys to compare with */
		bool adds = l->options->carry || l->handle->absence;
		l->verdict = WEIR_VERDICT_UNFIT;
		err = weir__sanity_ask(l->source->name, next, adds ? NULL : current,
		                       weir__run_progress, l);
	}
	if (!err && l->options->map)
		err = weir__pace_touch(&l->pace, next, weir__run_progress, l);
	if (err)
		weir_destroy(next);
	else
		*out = next;
	return err;
}

/* Before the first set there is nothing to carry ([PLACEHOLDER]). */
static bool carries(const struct weir_refresh_run *l)
{
	return l->options->carry && !l->handle->absence;
}

static int check_carry(struct weir_filter *next, const struct weir_filter *current)
{
	int err = weir__carry_check(next, current);
	if (!err || next->kind != current->kind || next->bytes == current->bytes ||
	    !weir__same_hashing(&current->hashing, &next->hashing))
		return err;
	return weir__fail(err, "cannot carry inserts over: the next filter has %llu bytes, the "
	                  "current one %llu: build both with the same capacity (weir build -n), or "
	                  "once without carry",
	                  (unsigned long long)next->bytes,
	                  (unsigned long long)current->bytes);
}

/* Begin a reload that publishes @next. On failure the caller keeps @next. */
static int begin(struct weir_reload **r, struct weir_refresh_run *l, struct weir_filter *next)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	l->verdict = WEIR_VERDICT_UNFIT;
	int err = weir__next_check(l->handle, next);
	if (!err && carries(l))
		err = check_carry(next, l->handle->generation->current);
	if (err)
		return err;
	o.keep_previous = l->options->keep_previous;
	o.defer_free = l->options->defer_free;
	o.gate = l->options->gate;
	o.pace = l->options->pace;
	l->verdict = WEIR_VERDICT_NONE; /* only a lack of memory can make the next call fail */
	return weir__reload_open(r, l->handle, next, &o);
}

/* Publish @next as the next filter, carry, and ask the gate. @r: receives the reload if it
 * began. The caller must close it, or drop it after a failure. If no reload began, this function
 * destroys @next. */
static int offer(struct weir_reload **r, struct weir_refresh_run *l, struct weir_filter *next)
{
	int err = begin(r, l, next);
	if (err) {
		weir_destroy(next);
	} else {
		l->verdict = WEIR_VERDICT_UNFIT;
		err = weir__reload_replay(*r);
	}
	if (!err && carries(l)) {
		/* begin() has checked the rest, so the merge fails only if progress stops it,
		 * memory is short or the capacity is too small */
		err = weir__merge(next, l->handle->generation->current, weir__run_progress, l);
		if (err == -ENOMEM || err == -EAGAIN)
			l->verdict = WEIR_VERDICT_NONE;
	}
	if (!err) {
		l->verdict = l->options->carry ? WEIR_VERDICT_UNFIT : WEIR_VERDICT_BAD;
		err = weir__reload_ask(*r, weir__run_progress, l);
	}
	return err ? weir__fail(err, "%s: %s", l->source->name, weir_error_detail()) : 0;
}

/* Remember the verdict before the claim is released, since the verdict decides when the file is
 * read again. Return: true if the last refresh refused the same damaged file. */
static bool remember(const struct weir_refresh_run *l, int err)
{
	struct weir_handle *h = l->handle;
	if (err && (l->stopped || l->verdict == WEIR_VERDICT_NONE))
		return false;
	const bool unfit = err && l->verdict == WEIR_VERDICT_UNFIT;
	bool again = weir__last_file_judge(&h->last_file, &l->source->identity, err,
	                                   unfit ? h->generation->number : 0, l->began);
	weir__figure_add_relaxed(&h->refused, err && !again);
	return again;
}

/* Refresh from an open file. The caller has claimed the handle. This function releases the
 * claim. */
static int refresh_source(struct weir_refresh_run *l)
{
	struct weir_filter *next = NULL;
	struct weir_reload *r = NULL;
	if (weir__last_file_is(&l->handle->last_file, &l->source->identity,
	                       l->handle->generation->number)) {
		if (!l->handle->last_file.refused)
			weir__refusal_ends(l->handle);
		weir__writer_release(l->handle);
		return 0;
	}
	int err = prepare(&next, l);
	if (!err)
		err = offer(&r, l, next);
	if (!err)
		weir__pace_settle(&l->pace);
	bool again = remember(l, err);
	if (err && !again && !l->stopped)
		weir__refusal_begins(l->handle);
	if (!r)
		weir__writer_release(l->handle);
	else if (err)
		weir__reload_drop(r);
	else
		weir__reload_close(r, l->began);
	return err ? again ? 0 : err : 1;
}

/* Refresh from a path. The caller has claimed the handle; this function releases the claim. */
static int refresh(struct weir_handle *h, const char *path,
                   const struct weir_refresh_options *options)
{
	struct weir_source source;
	double began = weir__seconds();
	weir__standby_free(h);
	int err = weir__source_find(&source, path, O_RDONLY);
	if (err) {
		if (h->last_file.refused) /* report the refusal again if the same file comes back */
			h->last_file = (struct weir_last_file){ 0 };
		weir__refusal_begins(h);
		weir__writer_release(h);
		return err;
	}
	struct weir_refresh_run l = { .handle = h, .source = &source, .options = options,
	                              .began = began };
	weir__pace_make(&l.pace, &h->rcu, options->pace);
	l.turn = weir__pace_begin(&l.pace);
	if (options->deltas)
		err = weir__chain_find(&l.chain, path);
	source.identity.chain = l.chain.identity;
	if (err) {
		weir__refusal_begins(h);
		weir__writer_release(h);
	} else {
		err = refresh_source(&l);
	}
	weir__chain_free(&l.chain);
	weir__source_close(&source);
	return err;
}

int weir_handle_refresh(struct weir_handle *h, const char *path,
                        const struct weir_refresh_options *options)
{
	WEIR__UNCANCELLED;
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_gate gate;
	if (!h || !path)
		return weir__fail(-EINVAL, "%s is NULL: weir_handle_refresh needs it",
		                  h ? "path" : "the handle");
	int err = weir__one_filter_check(h, "weir_handle_refresh");
	if (!err)
		err = weir__options_copy(&o, sizeof o, options, "weir_refresh_options");
	if (!err)
		err = weir__pace_check(o.pace);
	if (!err)
		err = weir__gate_take(&gate, &o.gate);
	if (!err)
		err = weir__writer_begin(h, "weir_handle_refresh");
	return err ? err : refresh(h, path, &o);
}
