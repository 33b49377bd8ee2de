/* SPDX-License-Identifier: MIT
 * The handle's filter from a file that is replaced from time to time. The file is checked before
 * anything is published. Then it is a reload whose next filter is there already: begin, carry, the
 * gate, commit, by the rules of generation.h.
 *
 * The gate is asked last, of what is published: carry adds keys. So a refusal is a verdict on the
 * file alone, or, with carry, on the file and the current filter. The first kind is remembered
 * until the file changes. The second is remembered until the file or the generation changes:
 *  - while the filter stays current its bits only grow, so what was too full or had a key of
 *    must_miss is refused again, and to verify the file at every look would find nothing new;
 *  - after a reload, rollback or refresh the same file may well pass.
 * What progress stops, at any step, is no refusal. */
#include <fcntl.h>
#include <weir/refresh.h>
#include "cancel.h"
#include "clock.h"
#include "error.h"
#include "image/load.h"
#include "image/map.h"
#include "options.h"
#include "set/chain.h"
#include "set/gate.h"
#include "set/generation.h"
#include "set/next.h"
#include "set/pace.h"
#include "set/reload.h"
#include "set/sanity.h"
#include "whole.h"

/* What a failure is a verdict on. */
enum verdict {
	NONE,     /* nothing that will last: the file is tried again */
	ALONE,    /* the file */
	BESIDE    /* the file beside the current filter */
};

/* One look at a file, by the handle's writer. */
struct look {
	struct weir_handle *handle;
	struct weir_source *source;
	struct weir_chain chain; /* of the source */
	const struct weir_refresh_options *options;
	double began;
	struct weir_pace pace;
	uint64_t turn;        /* when the work began that pace has not counted yet */
	enum verdict verdict; /* if the step that is under way fails */
	bool stopped;         /* by progress, which is no verdict whatever the step */
};

/* Every step that takes long asks, before it sleeps and after each sleep (P3). */
static int may_go_on(void *argument, uint64_t done, uint64_t total)
{
	struct look *l = argument;
	weir_progress_fn *progress = l->options->progress;
	bool more = false;
	(void)weir__pace_note(&l->pace, l->turn, 1);
	do
		l->stopped = progress && progress(l->options->progress_arg, done, total) != 0;
	while (!l->stopped && (more = weir__pace_rest(&l->pace, more)));
	l->turn = weir__pace_begin(&l->pace); /* P4 */
	return l->stopped;
}

/* What is wrong with the image, and what to do about it. */
static int with_remedy(int err, const void *key)
{
	const char *remedy =
		err == -EBADMSG ? "damaged, or no image: build it anew with weir build --force" :
		err == -ENOTSUP ? "build it with this server's version of weir, or update the "
		                  "server's" :
		err == -EFBIG   ? "raise max_bytes, or build a smaller one (weir build -m)" :
		err != -EKEYREJECTED ? NULL :
		key             ? "the current filter is keyed: build it with --keyed-by, and with "
		                  "its key" :
		                  "the current filter is not keyed: build it without --keyed-by";
	return remedy ? weir__fail(err, "%s; %s", weir_error_detail(), remedy) : err;
}

/* Into memory; or if the caller wants it so and it is not compressed, mapped: privately if the
 * current filter takes inserts, read-only if it does not. */
static int read_image(struct weir_filter **out, struct look *l, const struct weir_load_options *o)
{
	enum weir_map_mode mode = l->handle->generation->current->insert_error ? WEIR_MAP_READ :
	                                                                         WEIR_MAP_PRIVATE;
	int err = l->options->map ?
	          weir__map_or_load(out, l->source, mode, o) :
	          weir__source_settle(l->source, weir__source_load(out, l->source, o));
	if (err == -EBADMSG && weir__source_changed(l->source))
		err = weir__fail(-EBUSY, "%s: was written to while it was read: it is read again "
		                 "when that is done; to replace it at once, rename another file "
		                 "to its name", l->source->name);
	return err;
}

/* Into memory, and the deltas to it. */
static int read_chain(struct weir_filter **out, struct look *l, const struct weir_load_options *o)
{
	struct weir_plain plain;
	int err = weir__source_settle(l->source, weir__plain_read(&plain, l->source, o));
	if (err)
		return err;
	err = weir__chain_apply(&l->chain, &plain, l->source->name, o);
	if (!err)
		err = weir__plain_filter(out, &plain, l->source->name, o);
	if (err)
		weir__plain_free(&plain);
	return err;
}

static int take(struct weir_filter **out, struct look *l, uint64_t room)
{
	const struct weir_filter *current = l->handle->generation->current;
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.max_bytes = room;
	o.hash_key = weir__keyed(&current->hashing) ? current->hashing.key : NULL;
	o.progress = may_go_on;
	o.progress_arg = l;
	int err = weir__source_check(l->source);
	if (!err)
		err = l->chain.n ? read_chain(out, l, &o) : read_image(out, l, &o);
	l->verdict = weir__source_verdict(l->source, err) ? ALONE : NONE;
	if (l->chain.failed && err == -EBADMSG)
		return weir__fail(err, "%s; remove it, or replace the image by one that needs no "
		                  "delta", weir_error_detail());
	return l->source->outside ? err : with_remedy(err, o.hash_key);
}

/* What max_bytes leaves for the image. */
static int find_room(uint64_t *room, const struct weir_handle *h, uint64_t max_bytes)
{
	uint64_t held = weir__held_bytes(h, h->generation);
	*room = max_bytes ? max_bytes - held : 0;
	if (max_bytes && held >= max_bytes)
		return weir__fail(-EFBIG, "max_bytes %llu: %llu bytes are held already: raise it, "
		                  "or let go of the previous filter (weir_handle_drop_previous)",
		                  (unsigned long long)max_bytes, (unsigned long long)held);
	return 0;
}

/* Which hashes it takes, where the handle holds filters of one seed. */
static int check_hashing(const struct look *l, const struct weir_filter *next)
{
	if (l->handle->flags & WEIR_HANDLE_ANY_SEED)
		return 0;
	int err = weir__same_hashing_check(l->handle->generation->current, &next->hashing,
	                                   l->source->name);
	return err ? weir__fail(err, "%s: build it with weir build --like=IMAGE of one that was "
	                             "taken, or give the handle WEIR_HANDLE_ANY_SEED",
	                        weir_error_detail()) : 0;
}

/* Lengths may differ: a lookup asks for those of the filter that it reads. */
static int same_steps(const struct look *l, const struct weir_filter *next)
{
	const struct weir_filter *current = l->handle->generation->current;
	char theirs[WEIR__NORMAL_TEXT], ours[WEIR__NORMAL_TEXT];
	if (l->handle->flags & WEIR_HANDLE_ANY_STEPS || current->normal.steps == next->normal.steps)
		return 0;
	return weir__fail(-EINVAL, "%s: what is done to its keys is %s, to those that are asked "
	                  "for %s: a server would miss keys; replace it by weir build --force %s, "
	                  "or give the handle WEIR_HANDLE_ANY_STEPS and ask by "
	                  "weir_handle_normal_contains()",
	                  l->source->name, weir__normal_text(&next->normal, theirs),
	                  weir__normal_text(&current->normal, ours),
	                  current->normal.steps ? "and the options of those steps" :
	                                          "--plain-keys");
}

/* Make a filter of the file, or fail with what is wrong with the file itself. */
static int prepare(struct weir_filter **out, struct look *l)
{
	const struct weir_filter *current = l->handle->generation->current;
	struct weir_filter *next = NULL;
	uint64_t room;
	int err = find_room(&room, l->handle, l->options->max_bytes);
	if (!err)
		err = take(&next, l, room);
	if (err)
		return err;
	l->verdict = ALONE; /* the image is whole: it may have another seed */
	err = check_hashing(l, next);
	if (!err)
		err = same_steps(l, next);
	if (!err) {
		bool adds = l->options->carry || l->handle->absence; /* H10: nothing to compare */
		l->verdict = BESIDE;
		err = weir__sanity_ask(l->source->name, next, adds ? NULL : current, may_go_on, l);
	}
	if (!err && l->options->map)
		err = weir__pace_touch(&l->pace, next, may_go_on, l);
	if (!err && l->handle->absence) {
		l->verdict = NONE; /* no memory */
		err = weir__absence_note(l->handle->absence, next);
	}
	if (err)
		weir_destroy(next);
	else
		*out = next;
	return err;
}

/* Before the first set there is nothing to carry (H10). */
static bool carries(const struct look *l)
{
	return l->options->carry && !l->handle->absence;
}

static int check_carry(struct weir_filter *next, const struct weir_filter *current)
{
	int err = weir_normal_unite(&next->normal, &current->normal);
	return err ? err : weir__carry_check(next, current);
}

/* On failure the filter is still the caller's. */
static int begin(struct weir_reload **r, struct look *l, struct weir_filter *next)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	l->verdict = BESIDE;
	int err = weir__next_check(l->handle, next);
	if (!err && carries(l))
		err = check_carry(next, l->handle->generation->current);
	if (err)
		return err;
	o.keep_previous = l->options->keep_previous;
	o.defer_free = l->options->defer_free;
	o.gate = l->options->gate;
	o.pace = l->options->pace;
	l->verdict = NONE; /* no memory */
	return weir__reload_open(r, l->handle, next, &o);
}

/* Publish it as the next filter, carry, and ask the gate. @r: a reload that began is to be closed,
 * or after a failure dropped; if none began, there is no next filter any more. */
static int offer(struct weir_reload **r, struct look *l, struct weir_filter *next)
{
	int err = begin(r, l, next);
	if (err) {
		weir_destroy(next);
	} else {
		l->verdict = BESIDE;
		err = weir__reload_replay(*r);
		if (err == -EAGAIN)
			l->verdict = NONE;
	}
	if (!err && carries(l)) {
		/* begin() has asked all that could fail but progress, memory and room */
		err = weir__merge(next, l->handle->generation->current, may_go_on, l);
		if (err == -ENOMEM || err == -EAGAIN)
			l->verdict = NONE;
	}
	if (!err) {
		l->verdict = l->options->carry ? BESIDE : ALONE;
		err = weir__reload_ask(*r, may_go_on, l);
	}
	return err ? weir__fail(err, "%s: %s", l->source->name, weir_error_detail()) : 0;
}

/* Before the claim ends: whether, and for how long, this look is the last at the file. Return:
 * whether this very refusal was there before. */
static bool remember(const struct look *l, int err)
{
	struct weir_handle *h = l->handle;
	if (err && (l->stopped || l->verdict == NONE))
		return false;
	bool again = weir__last_file_judge(&h->last_file, &l->source->identity, err,
	                                   err && l->verdict == BESIDE ? h->generation->number : 0,
	                                   l->began);
	weir__figure_add_relaxed(&h->refused, err && !again);
	return again;
}

/* The handle is claimed, and no longer when this returns. */
static int look(struct look *l)
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

/* Likewise. */
static int refresh(struct weir_handle *h, const char *path,
                   const struct weir_refresh_options *options)
{
	struct weir_source source;
	double began = weir__seconds();
	weir__standby_free(h);
	int err = weir__source_find(&source, path, O_RDONLY);
	if (err) {
		if (h->last_file.refused) /* so that its sentence is the last when it is back */
			h->last_file = (struct weir_last_file){ 0 };
		weir__refusal_begins(h);
		weir__writer_release(h);
		return err;
	}
	struct look l = { .handle = h, .source = &source, .options = options, .began = began };
	weir__pace_make(&l.pace, &h->rcu, options->pace);
	l.turn = weir__pace_begin(&l.pace);
	if (options->deltas)
		err = weir__chain_find(&l.chain, path);
	source.identity.chain = l.chain.identity;
	if (err) {
		weir__refusal_begins(h);
		weir__writer_release(h);
	} else {
		err = look(&l);
	}
	weir__chain_free(&l.chain);
	weir__source_close(&source);
	return err;
}

int weir_handle_refresh_with(struct weir_handle *h, const char *path,
                             const struct weir_refresh_options *options)
{
	WEIR__UNCANCELLED;
	struct weir_refresh_options o = WEIR_REFRESH_OPTIONS_INIT;
	struct weir_gate gate;
	if (!h || !path)
		return weir__fail(-EINVAL, "%s is NULL: weir_handle_refresh needs it",
		                  h ? "path" : "the handle");
	int err = weir__options_copy(&o, sizeof o, options, "weir_refresh_options");
	if (!err)
		err = weir__pace_check(o.pace);
	if (!err)
		err = weir__gate_take(&gate, &o.gate);
	if (!err)
		err = weir__writer_begin(h, "weir_handle_refresh");
	return err ? err : refresh(h, path, &o);
}

int weir_handle_refresh(struct weir_handle *h, const char *path)
{
	return weir_handle_refresh_with(h, path, NULL);
}
