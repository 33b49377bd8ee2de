/* SPDX-License-Identifier: MIT
 * Images in memory that processes share: one reads a file's into it, and each makes a filter of its
 * own around it. */
#include "ground/error.h"
#include "image/load.h"
#include "image/map.h"
#include "image/plain.h"

enum { ALIGNED = 64 }; /* a line */

/* What a reader of the memory will find: all that is checked of a filter beside its bytes. */
static int try_it(const struct weir_room *room, const struct weir_load_options *options)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_source source;
	struct weir_filter *f;
	int err = weir__source_of_memory(&source, room->memory, room->end);
	source.name = room->name;
	o.no_verify = true;
	/* no key is needed, but one that is given must be the right one */
	o.secret = options->secret ? options->secret : weir__no_secret;
	if (!err)
		err = weir__map_source(&f, &source, WEIR_MAP_READ, &o);
	if (!err)
		weir_destroy(f);
	return err;
}

static int read_into(struct weir_room *room, struct weir_source *source,
                     const struct weir_load_options *options)
{
	struct weir_preface preface;
	int err = weir__preface_read(&preface, source, options->max_bytes, false);
	if (err)
		return err;
	err = weir__room_put(room, &preface, source, options);
	weir__preface_free(&preface);
	return err ? err : try_it(room, options);
}

static int check_place(const void *place, const char *what)
{
	if (place && (uintptr_t)place % ALIGNED == 0)
		return 0;
	return weir__fail(-EINVAL, "%s %p: a multiple of %d that is not NULL", what, place,
	                  ALIGNED);
}

static int read_options(struct weir_load_options *out, const struct weir_load_options *options)
{
	int err = weir__load_options(out, options);
	if (!err && (out->flags || out->no_verify || out->memory || out->memory_bytes))
		err = weir__fail(-EINVAL, "flags 0x%x, no_verify %d, memory %p, memory_bytes %zu: "
		                 "weir_image_read takes none of them: it checks all, and its "
		                 "memory is an argument", out->flags, out->no_verify, out->memory,
		                 out->memory_bytes);
	return err;
}

int weir_image_read(void *memory, size_t room, size_t *bytes, const char *path,
                    const struct weir_load_options *options)
{
	struct weir_room place = { .memory = memory, .bytes = room, .name = path };
	struct weir_load_options o;
	struct weir_source source;
	int err = read_options(&o, options);
	if (!err)
		err = check_place(memory, "memory");
	if (!err && !bytes)
		err = weir__fail(-EINVAL, "bytes is NULL: the image's length needs a place");
	if (!err)
		err = weir__source_open(&source, path, O_RDONLY);
	if (err)
		return err;
	err = weir__source_settle(&source, read_into(&place, &source, &o));
	weir__source_close(&source);
	if (!err)
		*bytes = place.end;
	return err;
}

uint32_t weir_marks_of(const struct weir_filter *f)
{
	return f->marks;
}

int weir_map_memory(struct weir_filter **out, const void *image, size_t bytes,
                    const struct weir_load_options *options)
{
	struct weir_load_options o;
	struct weir_source source;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: the mapped filter needs a place");
	int err = weir__map_options(&o, options, WEIR_MAP_READ);
	if (!err)
		err = check_place(image, "image");
	if (!err)
		err = weir__source_of_memory(&source, image, bytes);
	return err ? err : weir__map_source(out, &source, WEIR_MAP_READ, &o);
}
