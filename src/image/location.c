/* SPDX-License-Identifier: MIT
 * Opens locations for reading, and loads from them: see location.h. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ground/error.h"
#include "image/delta.h"
#include "image/load.h"
#include "image/location.h"
#include "image/map.h"

static const char *const form_name[] = {
	[WEIR_LOCATION_PATH] = "a path",
	[WEIR_LOCATION_FD] = "a descriptor",
	[WEIR_LOCATION_MEMORY] = "memory",
	[WEIR_LOCATION_ROOM] = "room",
	[WEIR_LOCATION_MAP] = "a path to map",
	[WEIR_LOCATION_MAP_MEMORY] = "memory to map",
	[WEIR_LOCATION_CHAIN] = "a chain of deltas",
};
enum { FORMS = sizeof form_name / sizeof *form_name };

const char *weir__location_name(const struct weir_location *at, char fd[WEIR__FD_NAME])
{
	switch (at->form) {
	case WEIR_LOCATION_FD: snprintf(fd, WEIR__FD_NAME, "file descriptor %d", at->fd); return fd;
	case WEIR_LOCATION_ROOM: return "the room for an image";
	case WEIR_LOCATION_MEMORY:
	case WEIR_LOCATION_MAP_MEMORY: return "the image in memory";
	default: return at->path;
	}
}

static int refuse(const struct weir_location *at, uint32_t takes, const char *call)
{
	char all[128] = "", fd[WEIR__FD_NAME];
	size_t n = 0;
	for (unsigned i = 0; i < FORMS; i++)
		if (takes >> i & 1)
			n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", n ? ", " : "",
			                      form_name[i]);
	if (at->form >= FORMS)
		return weir__fail(-EINVAL, "%s: location.form %u: there is no such form: %s", call,
		                  at->form, all);
	const char *name = weir__location_name(at, fd);
	return weir__fail(-EINVAL, "%s: %s does not take %s: it takes %s", name ? name : "NULL",
	                  call, form_name[at->form], all);
}

int weir__location_check(const struct weir_location *at, uint32_t takes, const char *call)
{
	char name[WEIR__FD_NAME];
	if (at->form >= FORMS || !(takes >> at->form & 1))
		return refuse(at, takes, call);
	switch (at->form) {
	case WEIR_LOCATION_FD:
		return fcntl(at->fd, F_GETFD) < 0 ?
		       weir__fail(-errno, "%s: is not open", weir__location_name(at, name)) : 0;
	case WEIR_LOCATION_MEMORY:
	case WEIR_LOCATION_MAP_MEMORY:
		return at->memory ? 0 : weir__fail(-EINVAL, "image is NULL: %zu bytes of memory "
		                                   "that hold an image", at->bytes);
	case WEIR_LOCATION_ROOM:
		return at->room || !at->bytes ? 0 :
		       weir__fail(-EINVAL, "room is NULL: %zu bytes of memory to write to; or 0, "
		                  "to ask how many it takes", at->bytes);
	case WEIR_LOCATION_CHAIN:
		if (at->bytes && !at->deltas)
			return weir__fail(-EINVAL, "deltas is NULL: the paths of %zu deltas",
			                  at->bytes);
	}
	return at->path ? 0 : weir__fail(-EINVAL, "path is NULL: the image's file name");
}

/* Read the caller's descriptor from its current position. */
static int source_of_fd(struct weir_source *source, int fd, const char *name)
{
	struct stat st;
	*source = (struct weir_source){ .name = name, .fd = fd, .length = UINT64_MAX };
	if (fstat(fd, &st))
		return weir__fail(-errno, "%s: is not open", name);
	if (S_ISDIR(st.st_mode))
		return weir__fail(-EISDIR, "%s: is a directory, not an image: name a file in it",
		                  name);
	off_t at = S_ISREG(st.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
	if (at >= 0)
		source->length = st.st_size > at ? (uint64_t)(st.st_size - at) : 0;
	return 0;
}

static int apply_chain(struct weir_plain *out, const struct weir_location *from,
                       const struct weir_load_options *options)
{
	const struct weir_location old = weir_location_path(from->path);
	int err = weir__location_plain(out, &old, NULL, options);
	if (err)
		return err;
	for (size_t i = 0; !err && i < from->bytes; i++)
		err = weir__delta_apply(out, i ? from->deltas[i - 1] : from->path,
		                        from->deltas[i], options);
	if (err)
		weir__plain_free(out);
	return err;
}

int weir__location_open(struct weir_opened *out, const struct weir_location *from, uint32_t takes,
                        const char *call, const struct weir_load_options *options)
{
	int err = weir__location_check(from, takes, call);
	if (err)
		return err;
	*out = (struct weir_opened){ .plain = { .bytes = 0 } };
	const char *name = weir__location_name(from, out->name);
	switch (from->form) {
	case WEIR_LOCATION_PATH: return weir__source_open(&out->source, from->path, O_RDONLY);
	case WEIR_LOCATION_FD: return source_of_fd(&out->source, from->fd, name);
	case WEIR_LOCATION_CHAIN:
		err = apply_chain(&out->plain, from, options);
		if (!err)
			out->source = weir__plain_source(
				&out->plain, from->bytes ? from->deltas[from->bytes - 1] : name);
		return err;
	default:
		out->source = weir__source_of_memory(name, from->memory, from->bytes);
		return 0;
	}
}

int weir__location_close(struct weir_opened *opened, int err)
{
	err = weir__source_settle(&opened->source, err);
	if (opened->source.mode) /* 0 unless weir__location_open() opened a file */
		weir__source_close(&opened->source);
	weir__plain_free(&opened->plain);
	return err;
}

int weir__location_plain(struct weir_plain *out, const struct weir_location *from,
                         const char *call, const struct weir_load_options *options)
{
	struct weir_opened opened;
	int err = weir__location_open(&opened, from, WEIR__TO_READ, call, options);
	if (err)
		return err;
	if (from->form == WEIR_LOCATION_CHAIN) { /* the result of a chain is a checked plain form */
		*out = opened.plain;
		return 0;
	}
	err = weir__plain_read(out, &opened.source, options);
	return weir__location_close(&opened, err);
}

/* ---- weir_load() ---- */

/* Check the options for reading into memory. The result of a chain is in memory already. */
static int read_options(struct weir_load_options *o, bool chain)
{
	if (o->no_verify)
		return weir__fail(-EINVAL, "no_verify 1: is for weir_location_map: what is read is "
		                  "always checked");
	if (o->lock_dir)
		return weir__fail(-EINVAL, "lock_dir %s: is for weir_location_map with "
		                  "WEIR_MAP_LIVE: leave it out", o->lock_dir);
	if (chain && (o->flags || o->memory || o->memory_bytes))
		return weir__fail(-EINVAL, "flags 0x%x, memory %p, memory_bytes %zu: a chain of "
		                  "deltas takes none of them", o->flags, o->memory,
		                  o->memory_bytes);
	if (o->keyless && !o->secret)
		o->secret = weir__no_secret;
	return weir__memory_given(o->memory, o->memory_bytes);
}

static int read_filter(struct weir_filter **out, const struct weir_location *from,
                       struct weir_load_options *o)
{
	const bool chain = from->form == WEIR_LOCATION_CHAIN;
	struct weir_opened opened;
	int err = read_options(o, chain);
	if (!err)
		err = weir__location_open(&opened, from, WEIR__TO_LOAD, "weir_load", o);
	if (err)
		return err;
	err = chain ? weir__plain_filter(out, &opened.plain, opened.source.name, o) :
	              weir__source_load(out, &opened.source, o);
	return weir__location_close(&opened, err);
}

int weir_load(struct weir_filter **out, struct weir_location from,
              const struct weir_load_options *options)
{
	struct weir_load_options o;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: the loaded filter needs a place");
	int err = weir__load_options(&o, options);
	if (err)
		return err;
	if (from.form != WEIR_LOCATION_MAP && from.form != WEIR_LOCATION_MAP_MEMORY)
		return read_filter(out, &from, &o);
	err = weir__location_check(&from, WEIR__TO_LOAD, "weir_load");
	return err ? err : weir__map_location(out, &from, &o);
}
