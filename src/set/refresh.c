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
#include <sys/stat.h>
#include <weir/image.h>
#include <weir/refresh.h>
#include "error.h"
#include "options.h"
#include "set/gate.h"
#include "set/generation.h"
#include "set/reload.h"
#include "set/sanity.h"
#include "whole.h"

static int identify(struct weir_file_identity *out, const char *path)
{
	struct stat s;
	if (stat(path, &s))
		return weir__fail(-errno, "%s: %s", path, weir_strerror(errno));
	*out = (struct weir_file_identity){ s.st_dev, s.st_ino, s.st_size, s.st_mtim };
	return 0;
}

static bool same(const struct weir_file_identity *a, const struct weir_file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Load the image if it is compressed; else map it: privately if the current filter takes inserts,
 * read-only if it does not. */
static int take(struct weir_filter **out, const char *path, const struct weir_filter *current,
                uint64_t room)
{
	struct weir_load_options options = WEIR_LOAD_OPTIONS_INIT;
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	int err = weir_image_info(path, &info);
	if (err)
		return err;
	options.max_bytes = room;
	options.hash_key = weir__keyed(&current->hashing) ? current->hashing.key : NULL;
	if (info.compressed)
		return weir_load(out, path, &options);
	return weir_map(out, path, current->insert_error ? WEIR_MAP_READ : WEIR_MAP_PRIVATE,
	                &options);
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

/* Make a filter of the file, or fail with what is wrong with the file itself. */
static int prepare(struct weir_filter **out, const struct weir_handle *h, const char *path,
                   const struct weir_refresh_options *options)
{
	const struct weir_filter *current = h->generation->current;
	struct weir_filter *next = NULL;
	uint64_t room;
	int err = find_room(&room, h, options->max_bytes);
	if (!err)
		err = take(&next, path, current, room);
	if (err)
		return err;
	err = weir__same_hashing_check(current, &next->hashing, path);
	if (!err)
		err = weir__sanity_ask(path, next, options->carry ? NULL : current);
	if (err)
		weir_destroy(next);
	else
		*out = next;
	return err;
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

static int swap(struct weir_handle *h, struct weir_filter *next,
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
		h->refused_with = options->carry ? h->generation->number : 0;
		weir__reload_drop(r);
		return err;
	}
	weir__reload_close(r);
	return 0;
}

/* Will the file fail again as long as it is the same file? After any other error it may not:
 * memory, descriptors and what max_bytes leaves come back, permissions are given and disks mended,
 * and none of that makes it another file. */
static bool verdict(int err)
{
	return err == -EBADMSG || err == -ENOTSUP || err == -EINVAL || err == -EROFS ||
	       err == -ECANCELED || err == -EBUSY || err == -EISDIR || err == -EKEYREJECTED;
}

/* Was it looked at already, with the same answer to come? */
static bool known(const struct weir_handle *h, const struct weir_file_identity *file)
{
	return same(&h->last_file, file) &&
	       (!h->refused_with || h->refused_with == h->generation->number);
}

/* The handle is claimed, and no longer when this returns. */
static int refresh(struct weir_handle *h, const char *path,
                   const struct weir_refresh_options *options)
{
	struct weir_file_identity now;
	struct weir_filter *next;
	int err = identify(&now, path);
	if (err || known(h, &now)) {
		weir__writer_release(h);
		return err;
	}
	err = prepare(&next, h, path, options);
	if (!err || verdict(err)) {
		h->last_file = now;
		/* -ECANCELED: overfull, or shrunk beside the current filter */
		h->refused_with = err == -ECANCELED ? h->generation->number : 0;
	}
	if (err) {
		weir__figure_add_relaxed(&h->refused, verdict(err));
		weir__writer_release(h);
		return err;
	}
	err = swap(h, next, options);
	return err ? err : 1;
}

int weir_handle_refresh_with(struct weir_handle *h, const char *path,
                             const struct weir_refresh_options *options)
{
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
