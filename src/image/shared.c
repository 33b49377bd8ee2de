/* SPDX-License-Identifier: MIT
 * Images in memory that processes share: one reads a file's into it, and each makes a filter of its
 * own around it. A compressed image becomes the plain one that the same filter would be saved as:
 * its bits and so their checksums are the same, and what follows from the form is made anew. */
#include <string.h>
#include "error.h"
#include "image/bits.h"
#include "image/compound.h"
#include "image/load.h"
#include "image/map.h"

enum { ALIGNED = 64, PAGE = 4096 }; /* a line; the places of members */

/* The memory that an image is put into. */
struct room {
	unsigned char *memory;
	uint64_t bytes;
	uint64_t end;           /* of what is there so far */
	const char *name;       /* of the image */
	unsigned char *members; /* the rows of a compound's table */
};

static int no_room(const struct room *room, uint64_t needed)
{
	return weir__fail(-EFBIG, "%s: its plain image has %llu bytes or more where there is room "
	                  "for %llu", room->name, (unsigned long long)needed,
	                  (unsigned long long)room->bytes);
}

/* Zeros up to @to. */
static int advance(struct room *room, uint64_t to)
{
	if (to > room->bytes)
		return no_room(room, to);
	memset(room->memory + room->end, 0, to - room->end);
	room->end = to;
	return 0;
}

/* The image of an array behind what is there. @head: receives its head. */
static int put_array(struct room *room, const struct weir_preface *p, struct weir_source *source,
                     const struct weir_load_options *options, struct weir_image_head *head)
{
	unsigned char *image = room->memory + room->end;
	*head = p->head;
	head->compression = WEIR_IMAGE_PLAIN;
	const uint64_t bits = weir__image_bits_offset(head), length = weir__image_length(head);
	if (length > room->bytes - room->end)
		return no_room(room, room->end + length);
	int err = weir__bits_read(source, p, options, image + bits);
	if (err)
		return err;
	memset(image, 0, bits);
	memcpy(image + WEIR_IMAGE_HEAD, p->table, weir__image_table(head));
	weir__head_commit(head, p->table, image);
	room->end += length;
	return 0;
}

/* C1: the row has the commit record of the member's plain form. */
static int put_member(void *arg, unsigned i, const struct weir_preface *p,
                      struct weir_source *source, const struct weir_load_options *options)
{
	struct room *room = arg;
	struct weir_image_head head;
	int err = advance(room, room->end + weir__to_page(room->end));
	if (!err)
		err = put_array(room, p, source, options, &head);
	if (!err)
		weir__image_put64(room->members + WEIR_IMAGE_MEMBER * i + 8, head.commit);
	return err;
}

static int put_compound(struct room *room, const struct weir_preface *p,
                        struct weir_source *source, const struct weir_load_options *options)
{
	unsigned char table[WEIR_IMAGE_MEMBER * WEIR_IMAGE_MEMBERS];
	struct weir_image_head head = p->head;
	memcpy(table, p->table, weir__image_table(&head));
	room->members = table;
	int err = advance(room, PAGE);
	if (!err)
		err = weir__members_each(put_member, room, p, source, options);
	if (err)
		return err;
	head.compression = WEIR_IMAGE_PLAIN;
	head.length = room->end;
	memcpy(room->memory + WEIR_IMAGE_HEAD, table, weir__image_table(&head));
	weir__head_commit(&head, table, room->memory);
	return 0;
}

/* What a reader of the memory will find: all that is checked of a filter beside its bytes. */
static int try_it(const struct room *room, const struct weir_load_options *options)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_source source;
	struct weir_filter *f;
	int err = weir__source_of_memory(&source, room->memory, room->end);
	source.name = room->name;
	o.no_verify = true;
	/* no key is needed, but one that is given must be the right one */
	o.hash_key = options->hash_key ? options->hash_key : weir__no_hash_key;
	if (!err)
		err = weir__map_source(&f, &source, WEIR_MAP_READ, &o);
	if (!err)
		weir_destroy(f);
	return err;
}

static int read_into(struct room *room, struct weir_source *source,
                     const struct weir_load_options *options)
{
	struct weir_preface preface;
	struct weir_image_head head;
	int err = weir__preface_read(&preface, source, options->max_bytes, false);
	if (err)
		return err;
	err = weir__is_compound(&preface) ?
	      put_compound(room, &preface, source, options) :
	      put_array(room, &preface, source, options, &head);
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
	struct room place = { .memory = memory, .bytes = room, .name = path };
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
