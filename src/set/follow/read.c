/* SPDX-License-Identifier: MIT
 * Reads the file of a refresh (set/follow/follow.h). */
#include <string.h>
#include <unistd.h>
#include "ground/error.h"
#include "image/load.h"
#include "image/map.h"
#include "set/follow/follow.h"

/* Call the caller's progress function before each sleep ([PACE-SHORT-SLEEPS]). */
int weir__run_progress(void *argument, uint64_t done, uint64_t total)
{
	struct weir_refresh_run *l = argument;
	weir_progress_fn *progress = l->options->progress;
	bool more = false;
	(void)weir__pace_note(&l->pace, l->turn, 1);
	do
		l->stopped = progress && progress(l->options->progress_arg, done, total) != 0;
	while (!l->stopped && (more = weir__pace_rest(&l->pace, more)));
	l->turn = weir__pace_begin(&l->pace); /* [PACE-SLEEP-FREE]: sleeping is not work */
	return l->stopped;
}

/* Return: true if the file begins like an image, even a damaged one, or is too short to tell. Any
 * other file may be the wrong file, named by a mistyped path. Then with_remedy() must not recommend
 * to build the file anew, and the error message has a remedy already. */
static bool is_image(const struct weir_source *source)
{
	char begin[8];
	const ssize_t n = source->fd < 0 ? -1 : pread(source->fd, begin, sizeof begin, 0);
	return n < (ssize_t)sizeof begin || memcmp(begin, "WEIRIMG1", sizeof begin) == 0;
}

/* Add the remedy for @err to the error message. */
static int with_remedy(int err, const void *key, const struct weir_source *source)
{
	const char *remedy =
		err == -EBADMSG && !is_image(source) ? NULL :
		err == -EBADMSG ? "damaged: build it anew with weir build --force" :
		err == -ENOTSUP ? "build it with this server's version of weir, or update the "
		                  "server's" :
		err == -EFBIG   ? "raise max_bytes, or build a smaller one (weir build -m)" :
		err != -EKEYREJECTED ? NULL :
		key             ? "the current filter is keyed: build it with --keyed-by, and with "
		                  "its key" :
		                  "the current filter is not keyed: build it without --keyed-by";
	return remedy ? weir__fail(err, "%s; %s", weir_error_detail(), remedy) : err;
}

/* Load the image, or map it if the caller wants that and the image can be mapped. The mapping is
 * private if the current filter takes inserts, else read-only. */
static int read_image(struct weir_filter **out, struct weir_refresh_run *l,
                      const struct weir_load_options *o)
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

/* Load the image and apply its deltas. */
static int read_chain(struct weir_filter **out, struct weir_refresh_run *l,
                      const struct weir_load_options *o)
{
	struct weir_plain plain;
	int err = weir__chain_heads(&l->chain);
	if (err)
		return err;
	if (l->chain.n == 0)
		return read_image(out, l, o);
	err = weir__source_settle(l->source, weir__plain_read(&plain, l->source, o));
	if (err)
		return err;
	err = weir__chain_apply(&l->chain, &plain, l->source->name, o);
	if (!err)
		err = weir__plain_filter(out, &plain, l->source->name, o);
	if (err)
		weir__plain_free(&plain);
	return err;
}

/* Compute the bytes that max_bytes leaves for the image. @room: receives 0 for no limit. */
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

int weir__refresh_read(struct weir_filter **out, struct weir_refresh_run *l)
{
	const struct weir_filter *current = l->handle->generation->current;
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	int err = find_room(&o.max_bytes, l->handle, l->options->max_bytes);
	if (err)
		return err;
	o.secret = weir__keyed(&current->hashing) ? current->hashing.key : NULL;
	o.progress = weir__run_progress;
	o.progress_arg = l;
	err = weir__source_check(l->source);
	if (!err)
		err = l->chain.n ? read_chain(out, l, &o) : read_image(out, l, &o);
	l->verdict = weir__source_verdict(l->source, err) ? WEIR_VERDICT_BAD : WEIR_VERDICT_NONE;
	if (l->chain.failed && (err == -EBADMSG || err == -ENOTSUP)) {
		l->verdict = WEIR_VERDICT_BAD;
		return weir__fail(err, "%s; remove it", weir_error_detail());
	}
	return l->source->syscall_failed ? err : with_remedy(err, o.secret, l->source);
}
