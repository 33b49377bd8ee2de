/* SPDX-License-Identifier: MIT
 * The plain form of an image in memory: see plain.h. */
#include <string.h>
#include "ground/error.h"
#include "image/compound.h"
#include "image/load.h"
#include "image/plain.h"

/* Copies the plain form of an image to memory. For a compressed image, that is the plain image of
 * the same filter, with the same bits and checksums of bits. Only the head depends on the form. */

enum { PAGE = 4096 }; /* the alignment of members */

static int too_small(const struct weir_room *room, uint64_t needed)
{
	return weir__fail(-ENOSPC, "%s: its plain image has %llu bytes or more where there is room "
	                  "for %llu", room->name, (unsigned long long)needed,
	                  (unsigned long long)room->bytes);
}

/* Append zeros up to offset @to. */
static int advance(struct weir_room *room, uint64_t to)
{
	if (to > room->bytes)
		return too_small(room, to);
	if (room->memory)
		memset(room->memory + room->end, 0, to - room->end);
	room->end = to;
	return 0;
}

/* Write head and table of the image at offset @at. */
static void put_head(struct weir_room *room, uint64_t at, struct weir_image_head *head,
                     const unsigned char *table)
{
	unsigned char bytes[WEIR_IMAGE_HEAD];
	weir__head_commit(head, table, bytes);
	room->commit = head->commit;
	if (!room->memory)
		return;
	memcpy(room->memory + at, bytes, sizeof bytes);
	memcpy(room->memory + at + sizeof bytes, table, weir__image_table(head));
}

/* Append the image of an array. */
static int put_array(struct weir_room *room, const struct weir_preface *p,
                     struct weir_source *source, const struct weir_load_options *options)
{
	unsigned char *image = room->memory ? room->memory + room->end : NULL;
	struct weir_image_head head = p->head;
	head.compression = WEIR_IMAGE_PLAIN;
	const uint64_t bits = weir__image_bits_offset(&head), length = weir__image_length(&head);
	if (length > room->bytes - room->end)
		return too_small(room, room->end + length);
	int err = weir__bits_read(source, p, options, image ? image + bits : NULL);
	if (err)
		return err;
	if (image)
		memset(image, 0, bits);
	put_head(room, room->end, &head, p->table);
	room->end += length;
	return 0;
}

/* Append a member. [MEMBER-TABLE]: its row in the table gets the commit record of its plain
 * form. */
static int put_member(void *arg, unsigned i, const struct weir_preface *p,
                      struct weir_source *source, const struct weir_load_options *options)
{
	struct weir_room *room = arg;
	int err = advance(room, room->end + weir__to_page(room->end));
	if (!err)
		err = put_array(room, p, source, options);
	if (!err)
		weir__image_put64(room->members + WEIR_IMAGE_MEMBER * i + 8, room->commit);
	return err;
}

static int put_compound(struct weir_room *room, const struct weir_preface *p,
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
	put_head(room, 0, &head, table);
	return 0;
}

int weir__room_put(struct weir_room *room, const struct weir_preface *p, struct weir_source *source,
                   const struct weir_load_options *options)
{
	return weir__is_compound(p) ? put_compound(room, p, source, options) :
	                              put_array(room, p, source, options);
}

/* ---- the whole image in memory ---- */

enum { HUGE_PAGE = 2 << 20 };

static int allocate(struct weir_plain *plain, uint64_t bytes, const char *name)
{
	plain->room = (bytes + 63) / 64 * 64;
	int err = weir__memory_alloc(&plain->memory, plain->room, 0, NULL, 0);
	return err ? weir__fail(err, "%s: %s", name, weir_error_detail()) : 0;
}

/* Return: an upper bound for the bytes of the plain form, with a table and padding for each
 * member. */
static uint64_t most_bytes(const struct weir_image_head *head)
{
	struct weir_image_head plain = *head;
	plain.compression = WEIR_IMAGE_PLAIN;
	if (!head->members)
		return weir__image_length(&plain);
	return 64 * head->nblocks + (head->members + 1) * (uint64_t)(2 * HUGE_PAGE);
}

/* Call the kind's check(). @image: the plain form of the image.  @preface: the image's preface. */
static int check_array(unsigned char *image, const struct weir_preface *preface, const char *name)
{
	struct weir_image_head head = preface->head;
	struct weir_layout layout;
	struct weir_filter *f;
	head.compression = WEIR_IMAGE_PLAIN;
	struct weir_memory memory = {
		.bits = (uint64_t *)(void *)(image + weir__image_bits_offset(&head))
	};
	if (!preface->kind->check)
		return 0;
	/* cannot fail: weir__no_secret skips the check of the key */
	(void)weir__preface_layout(&layout, preface, weir__no_secret, name);
	int err = weir__filter_make(&f, &layout, &memory, -EROFS);
	if (err)
		return err;
	err = weir__bits_check(f, name);
	weir_destroy(f);
	return err;
}

static int read_plain(struct weir_plain *out, struct weir_source *source,
                      const struct weir_preface *preface, const struct weir_load_options *options)
{
	unsigned char *image = weir__plain_bytes(out);
	struct weir_room room = { .memory = image, .bytes = out->room, .name = source->name };
	int err = weir__room_put(&room, preface, source, options);
	if (!err && !weir__is_compound(preface))
		err = check_array(image, preface, source->name);
	out->bytes = room.end;
	out->commit = room.commit;
	return err;
}

int weir__plain_read_rest(struct weir_plain *out, const struct weir_preface *preface,
                          struct weir_source *source, const struct weir_load_options *options)
{
	*out = (struct weir_plain){ .generation = preface->head.generation };
	int err = allocate(out, most_bytes(&preface->head), source->name);
	if (err)
		return err;
	err = read_plain(out, source, preface, options);
	if (err)
		weir__plain_free(out);
	return err;
}

int weir__plain_read(struct weir_plain *out, struct weir_source *source,
                     const struct weir_load_options *options)
{
	struct weir_preface preface;
	int err = weir__preface_read(&preface, source, options->max_bytes, false);
	if (err)
		return err;
	err = weir__plain_read_rest(out, &preface, source, options);
	weir__preface_free(&preface);
	return err;
}

int weir__plain_resize(struct weir_plain *plain, uint64_t bytes, const char *name)
{
	struct weir_plain more = *plain;
	int err = bytes > plain->room ? allocate(&more, bytes, name) : 0;
	if (err)
		return err;
	if (bytes < plain->bytes)
		memset(weir__plain_bytes(plain) + bytes, 0, plain->bytes - bytes);
	if (bytes > plain->room) {
		memcpy(weir__plain_bytes(&more), weir__plain_bytes(plain), plain->bytes);
		weir__plain_free(plain);
	}
	*plain = more;
	plain->bytes = bytes;
	return 0;
}

struct weir_source weir__plain_source(const struct weir_plain *plain, const char *name)
{
	return weir__source_of_memory(name, weir__plain_bytes(plain), plain->bytes);
}

int weir__plain_check(struct weir_plain *plain, const char *name,
                      const struct weir_load_options *options)
{
	struct weir_source source = weir__plain_source(plain, name);
	struct weir_room discard = { .bytes = UINT64_MAX, .name = name };
	struct weir_preface p;
	int err = weir__preface_read(&p, &source, options->max_bytes, false);
	if (err)
		return err;
	if (p.head.compression != WEIR_IMAGE_PLAIN)
		err = weir__fail(-EBADMSG, "%s: is compressed, not a plain image", name);
	else
		err = weir__room_put(&discard, &p, &source, options);
	if (!err && !weir__is_compound(&p))
		err = check_array(weir__plain_bytes(plain), &p, name);
	plain->commit = p.head.commit;
	plain->generation = p.head.generation;
	weir__preface_free(&p);
	return err;
}

static int filter_of_array(struct weir_filter **out, const struct weir_plain *plain,
                           const struct weir_preface *preface, const struct weir_layout *layout)
{
	struct weir_memory memory = plain->memory;
	memory.bits = (uint64_t *)(void *)(weir__plain_bytes(plain) +
	                                   weir__image_bits_offset(&preface->head));
	return weir__filter_make(out, layout, &memory, 0);
}

static int filter_of_compound(struct weir_filter **out, const struct weir_plain *plain,
                              struct weir_source *source, const struct weir_preface *preface,
                              const struct weir_load_options *options,
                              const struct weir_layout *layout)
{
	struct weir_member member[WEIR_IMAGE_MEMBERS];
	struct weir_load_options o = *options;
	o.no_verify = true;
	int err = weir__members_map(member, weir__plain_bytes(plain), preface, source, &o, 0);
	if (!err)
		err = weir__members_join(out, layout, member, preface->head.members, 0,
		                         source->name);
	if (err)
		return err;
	uint64_t *bits = (*out)->memory.bits;
	(*out)->memory = plain->memory;
	(*out)->memory.bits = bits;
	return 0;
}

/* Load the image of a window. Its members share one array in the filter, but are separate in the
 * image. So read the plain form like any other image in memory, and copy the members into a new
 * array. Other kinds get a filter around the plain form instead. */
static int thawed(struct weir_filter **out, struct weir_plain *plain, struct weir_source *source,
                  const struct weir_preface *preface, const struct weir_load_options *options)
{
	int err = weir__preface_load(out, source, preface, options);
	if (!err)
		weir__plain_free(plain);
	return err;
}

int weir__plain_filter(struct weir_filter **out, struct weir_plain *plain, const char *name,
                       const struct weir_load_options *options)
{
	struct weir_source source = weir__plain_source(plain, name);
	struct weir_preface preface;
	struct weir_layout layout;
	struct weir_filter *f = NULL;
	int err = weir__preface_read(&preface, &source, options->max_bytes, false);
	if (err)
		return err;
	err = weir__preface_layout(&layout, &preface, options->secret, name);
	if (!err)
		err = preface.kind->thaw ?
		      thawed(&f, plain, &source, &preface, options) :
		      weir__is_compound(&preface) ?
		      filter_of_compound(&f, plain, &source, &preface, options, &layout) :
		      filter_of_array(&f, plain, &preface, &layout);
	if (!err) {
		plain->memory = (struct weir_memory){ 0 }; /* the filter owns or has copied it */
		err = weir__bits_check(f, name); /* a router's check() reads set names */
		if (err)
			weir_destroy(f);
		else
			err = weir__preface_settle(out, f, &preface, options, name);
	}
	weir__preface_free(&preface);
	return err;
}

void weir__plain_free(const struct weir_plain *plain)
{
	weir__memory_free(&plain->memory);
}
