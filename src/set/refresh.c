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
 *  - after a reload, rollback or refresh the same file may well pass. */
#include <fcntl.h>
#include <weir/refresh.h>
#include "cancel.h"
#include "error.h"
#include "image/map.h"
#include "options.h"
#include "set/gate.h"
#include "set/generation.h"
#include "set/reload.h"
#include "set/sanity.h"
#include "whole.h"

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool same(const struct weir_file_identity *a, const struct weir_file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->commit == b->commit && same_time(&a->modified, &b->modified) &&
	       same_time(&a->changed, &b->changed);
}

/* Load the image if it is compressed; else map it: privately if the current filter takes inserts,
 * read-only if it does not. @judged: receives whether a failure is a verdict on the file. */
static int take(struct weir_filter **out, struct weir_source *source,
                const struct weir_filter *current, uint64_t room,
                const struct weir_refresh_options *options, bool *judged)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	o.max_bytes = room;
	o.hash_key = weir__keyed(&current->hashing) ? current->hashing.key : NULL;
	o.progress = options->progress;
	o.progress_arg = options->progress_arg;
	int err = weir__source_check(source);
	if (!err)
		err = weir__map_or_load(out, source,
		                        current->insert_error ? WEIR_MAP_READ : WEIR_MAP_PRIVATE,
		                        &o);
	*judged = weir__source_verdict(source, err);
	if (err == -EKEYREJECTED)
		weir__fail(err, "%s; the current filter is %skeyed", weir_error_detail(),
		           o.hash_key ? "" : "not ");
	return err;
}

/* What max_bytes leaves for the image. */
static int find_room(uint64_t *room, const struct weir_handle *h, uint64_t max_bytes)
{
	uint64_t held = weir__held_bytes(h, h->generation);
	*room = max_bytes ? max_bytes - held : 0;
	if (max_bytes && held >= max_bytes)
		return weir__fail(-EFBIG, "max_bytes %llu: %llu bytes are held already",
		                  (unsigned long long)max_bytes, (unsigned long long)held);
	return 0;
}

/* Make a filter of the file, or fail with what is wrong with the file itself. @judged: receives
 * whether that will hold as long as it is the same file, and @beside whether as long as the same
 * filter is current too. */
static int prepare(struct weir_filter **out, const struct weir_handle *h,
                   struct weir_source *source, const struct weir_refresh_options *options,
                   bool *judged, bool *beside)
{
	const struct weir_filter *current = h->generation->current;
	struct weir_filter *next = NULL;
	uint64_t room;
	*judged = *beside = false;
	int err = find_room(&room, h, options->max_bytes);
	if (!err)
		err = take(&next, source, current, room, options, judged);
	if (err)
		return err;
	err = weir__same_hashing_check(current, &next->hashing, source->name);
	if (!err) {
		err = weir__sanity_ask(source->name, next, options->carry ? NULL : current);
		*beside = err != 0;
	}
	if (err) {
		*judged = true; /* the image was whole: it has the wrong seed or keys */
		weir_destroy(next);
		return err;
	}
	*out = next;
	return 0;
}

/* Can the current filter be merged into it? */
static int check_carry(struct weir_handle *h, const struct weir_filter *next)
{
	int err = weir__merge_check(next, h->generation->current);
	if (err) {
		h->refused_with = h->generation->number;
		weir__figure_add_relaxed(&h->refused, 1);
	}
	return err;
}

static int begin(struct weir_reload **out, struct weir_handle *h, struct weir_filter *next,
                 const struct weir_refresh_options *options)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	int err = options->carry ? check_carry(h, next) : 0;
	if (err)
		return err;
	o.keep_previous = options->keep_previous;
	o.defer_free = options->defer_free;
	o.gate = options->gate;
	err = weir__reload_open(out, h, next, &o);
	if (err) /* no memory: to be tried again */
		h->last_file = (struct weir_file_identity){ 0 };
	return err;
}

static int swap(struct weir_handle *h, const char *name, struct weir_filter *next,
                const struct weir_refresh_options *options)
{
	struct weir_reload *r;
	int err = begin(&r, h, next, options);
	if (err) {
		weir_destroy(next);
		weir__writer_release(h);
		return err;
	}
	if (options->carry)
		err = weir_reload_copy(r); /* check_carry() has asked what could fail */
	if (!err)
		err = weir__reload_ask(r);
	if (err) {
		weir__fail(err, "%s: %s", name, weir_error_detail());
		h->refused_with = options->carry ? h->generation->number : 0;
		weir__reload_drop(r);
		return err;
	}
	weir__reload_close(r);
	return 0;
}

/* Was it looked at already, with the same answer to come? */
static bool known(const struct weir_handle *h, const struct weir_file_identity *file)
{
	return same(&h->last_file, file) &&
	       (!h->refused_with || h->refused_with == h->generation->number);
}

/* The handle is claimed, and no longer when this returns. */
static int refresh_from(struct weir_handle *h, struct weir_source *source,
                        const struct weir_refresh_options *options)
{
	struct weir_filter *next = NULL;
	bool judged, beside;
	if (known(h, &source->identity)) {
		weir__writer_release(h);
		return 0;
	}
	int err = prepare(&next, h, source, options, &judged, &beside);
	if (!err || judged) {
		h->last_file = source->identity;
		h->refused_with = beside ? h->generation->number : 0;
	}
	if (err) {
		weir__figure_add_relaxed(&h->refused, judged);
		weir__writer_release(h);
		return err;
	}
	err = swap(h, source->name, next, options);
	return err ? err : 1;
}

/* Likewise. */
static int refresh(struct weir_handle *h, const char *path,
                   const struct weir_refresh_options *options)
{
	struct weir_source source;
	int err = weir__source_find(&source, path, O_RDONLY);
	if (err) {
		weir__writer_release(h);
		return err;
	}
	err = refresh_from(h, &source, options);
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
		err = weir__gate_take(&gate, &o.gate);
	if (!err)
		err = weir__writer_begin(h, "weir_handle_refresh");
	return err ? err : refresh(h, path, &o);
}

int weir_handle_refresh(struct weir_handle *h, const char *path)
{
	return weir_handle_refresh_with(h, path, NULL);
}
