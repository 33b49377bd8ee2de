/* SPDX-License-Identifier: MIT
 * Putting the plain form of an image into memory: see room.h. A compressed image becomes the plain
 * one that the same filter would be saved as: its bits and so their checksums are the same, and
 * what follows from the form is made anew. */
#include <string.h>
#include "ground/error.h"
#include "image/bits.h"
#include "image/compound.h"
#include "image/room.h"

enum { PAGE = 4096 }; /* the places of members */

static int no_room(const struct weir_room *room, uint64_t needed)
{
	return weir__fail(-EFBIG, "%s: its plain image has %llu bytes or more where there is room "
	                  "for %llu", room->name, (unsigned long long)needed,
	                  (unsigned long long)room->bytes);
}

/* Zeros up to @to. */
static int advance(struct weir_room *room, uint64_t to)
{
	if (to > room->bytes)
		return no_room(room, to);
	memset(room->memory + room->end, 0, to - room->end);
	room->end = to;
	return 0;
}

/* The image of an array behind what is there. @head: receives its head. */
static int put_array(struct weir_room *room, const struct weir_preface *p,
                     struct weir_source *source, const struct weir_load_options *options,
                     struct weir_image_head *head)
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
	struct weir_room *room = arg;
	struct weir_image_head head;
	int err = advance(room, room->end + weir__to_page(room->end));
	if (!err)
		err = put_array(room, p, source, options, &head);
	if (!err)
		weir__image_put64(room->members + WEIR_IMAGE_MEMBER * i + 8, head.commit);
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
	memcpy(room->memory + WEIR_IMAGE_HEAD, table, weir__image_table(&head));
	weir__head_commit(&head, table, room->memory);
	return 0;
}

int weir__room_put(struct weir_room *room, const struct weir_preface *p, struct weir_source *source,
                   const struct weir_load_options *options)
{
	struct weir_image_head head;
	return weir__is_compound(p) ? put_compound(room, p, source, options) :
	                              put_array(room, p, source, options, &head);
}
