/* SPDX-License-Identifier: MIT
 * Verifies and copies images. Both operations convert an image to its plain form (the bytes
 * without compression). Verification then discards the plain form, and a copy writes it. */
#include <string.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "hash/hash.h"
#include "image/compound.h"
#include "image/load.h"
#include "image/location.h"
#include "image/map.h"
#include "image/save.h"

enum { ALIGNED = 64 }; /* bytes of a cache line */

/* Check the options, and refuse those that apply only to a filter. */
static int check_options(struct weir_load_options *out, const struct weir_load_options *options,
                         const char *call)
{
	int err = weir__load_options(out, options);
	if (!err && out->lock_dir)
		err = weir__fail(-EINVAL, "lock_dir %s: is for WEIR_MAP_LIVE: %s takes none",
		                 out->lock_dir, call);
	if (!err && (out->flags || out->no_verify || out->memory || out->memory_bytes))
		err = weir__fail(-EINVAL, "flags 0x%x, no_verify %d, memory %p, memory_bytes %zu: "
		                 "%s takes none of them: it checks all and keeps nothing",
		                 out->flags, out->no_verify, out->memory, out->memory_bytes, call);
	return err;
}

/* Read and check the preface. No secret key is needed, but a given key must be right. */
static int read_preface(struct weir_preface *out, struct weir_source *source,
                        const struct weir_load_options *options)
{
	struct weir_layout layout;
	int err = weir__preface_read(out, source, options->max_bytes, false);
	if (err)
		return err;
	err = weir__preface_layout(&layout, out,
	                           options->secret ? options->secret : weir__no_secret,
	                           source->name);
	if (err)
		weir__preface_free(out);
	return err;
}

/* ---- weir_image_verify() ---- */

/* A kind with check() needs the whole image in memory. For other kinds, and for compounds, the bits
 * are read piece by piece and compared with their checksums. */
static int verify(struct weir_source *source, const struct weir_load_options *options,
                  uint64_t *id)
{
	struct weir_room discard = { .bytes = UINT64_MAX, .name = source->name };
	struct weir_plain plain = { .bytes = 0 };
	struct weir_preface p;
	int err = read_preface(&p, source, options);
	if (err)
		return err;
	const bool all = p.kind->check && !weir__is_compound(&p);
	err = all ? weir__plain_read_rest(&plain, &p, source, options) :
	            weir__room_put(&discard, &p, source, options);
	*id = all ? plain.commit : discard.commit;
	weir__preface_free(&p);
	if (all && !err)
		weir__plain_free(&plain);
	return err;
}

int weir_image_verify(struct weir_location from, const struct weir_load_options *options,
                      uint64_t *id)
{
	struct weir_load_options o;
	struct weir_opened opened;
	uint64_t found = 0;
	int err = check_options(&o, options, "weir_image_verify");
	if (!err)
		err = weir__location_open(&opened, &from, WEIR__TO_READ, "weir_image_verify", &o);
	if (err)
		return err;
	err = weir__location_close(&opened, verify(&opened.source, &o, &found));
	if (!err && id)
		*id = found;
	return err;
}

/* ---- weir_image_copy() ---- */

static const char copy_call[] = "weir_image_copy";

/* Make a filter on the copied image, as a reader of the copy will do, and destroy the filter. This
 * calls the kind's check(), since correct checksums do not prove that the bits are valid. */
static int check_copy(const struct weir_room *room)
{
	struct weir_source source = weir__source_of_memory(room->name, room->memory, room->end);
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_filter *f;
	o.no_verify = true;
	o.secret = weir__no_secret;
	int err = weir__map_source(&f, &source, WEIR_MAP_READ, &o);
	if (!err)
		weir_destroy(f);
	return err;
}

static int write_plain_image(struct weir_room *room, struct weir_source *source,
                             const struct weir_load_options *options)
{
	struct weir_preface p;
	int err = read_preface(&p, source, options);
	if (err)
		return err;
	err = weir__room_put(room, &p, source, options);
	if (!err && room->memory && weir__kind_can(p.kind) & WEIR_CAN_MAP)
		err = check_copy(room);
	weir__preface_free(&p);
	return err;
}

static int64_t copy_to_memory(const struct weir_location *to, const struct weir_location *from,
                              const struct weir_load_options *options)
{
	struct weir_opened opened;
	if ((uintptr_t)to->room % ALIGNED != 0)
		return weir__fail(-EINVAL, "room %p: a multiple of %d", to->room, ALIGNED);
	int err = weir__location_open(&opened, from, WEIR__TO_READ, copy_call, options);
	if (err)
		return err;
	struct weir_room room = { .memory = to->room,
		                  .bytes = to->room ? to->bytes : UINT64_MAX,
		                  .name = opened.source.name };
	err = weir__location_close(&opened, write_plain_image(&room, &opened.source, options));
	return err ? err : (int64_t)room.end;
}

/* Write an array, by saving a filter around its bits. */
static int write_array(struct weir_plain *plain, const struct weir_preface *p,
                       struct weir_sink *to, const struct weir_save_options *options)
{
	struct weir_memory memory = { .bits = (uint64_t *)(void *)(
		weir__plain_bytes(plain) + weir__image_bits_offset(&p->head)) };
	struct weir_layout layout;
	struct weir_filter *f;
	/* cannot fail: weir__no_secret skips the check of the key */
	(void)weir__preface_layout(&layout, p, weir__no_secret, to->name);
	int err = weir__filter_make(&f, &layout, &memory, -EROFS);
	if (err)
		return err;
	err = weir__write_filter(f, to, options);
	weir_destroy(f);
	return err;
}

/* Write the members directly, since a compound filter may have state beyond its members. */
static int write_compound(struct weir_plain *plain, const struct weir_preface *p,
                          struct weir_source *source, struct weir_sink *to,
                          const struct weir_save_options *options)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	struct weir_compound c = { .head = p->head, .n = p->head.members };
	o.no_verify = true;
	o.secret = weir__no_secret;
	int err = weir__members_map(c.member, weir__plain_bytes(plain), p, source, &o, -EROFS);
	if (err)
		return err;
	err = weir__compound_write(&c, to, options, NULL, NULL);
	weir__members_free(c.member, c.n);
	return err;
}

static int write_copy(void *what, struct weir_sink *to, const struct weir_save_options *options)
{
	struct weir_plain *plain = what;
	struct weir_source source = weir__plain_source(plain, to->name);
	struct weir_save_options o = *options;
	struct weir_preface p;
	int err = weir__preface_read(&p, &source, 0, false);
	if (err)
		return err;
	o.generation = p.head.generation;
	o.marks = p.head.marks;
	err = weir__is_compound(&p) ? write_compound(plain, &p, &source, to, &o) :
	                              write_array(plain, &p, to, &o);
	weir__preface_free(&p);
	return err;
}

static int write_options(struct weir_save_options *out, const struct weir_save_options *options)
{
	int err = weir__save_options(out, options);
	if (!err && (out->generation || out->marks))
		err = weir__fail(-EINVAL, "generation %llu, marks 0x%x: weir_image_copy takes none "
		                 "of them: a copy has those of its image",
		                 (unsigned long long)out->generation, out->marks);
	return err;
}

/* Read the plain form into memory, and write it from there. */
static int64_t copy_by_memory(const struct weir_location *to, const struct weir_location *from,
                              const struct weir_load_options *reading,
                              const struct weir_save_options *writing)
{
	struct weir_plain plain;
	int err = weir__location_plain(&plain, from, copy_call, reading);
	if (err)
		return err;
	struct weir_source source = weir__plain_source(&plain, "the image");
	struct weir_preface p;
	int64_t done = read_preface(&p, &source, reading); /* this also checks the secret key */
	if (!done) {
		weir__preface_free(&p);
		done = weir__save_to(write_copy, &plain, to, writing);
	}
	weir__plain_free(&plain);
	return done;
}

int64_t weir_image_copy(struct weir_location to, struct weir_location from,
                        const struct weir_load_options *reading,
                        const struct weir_save_options *writing)
{
	struct weir_load_options r;
	struct weir_save_options w;
	int err = check_options(&r, reading, copy_call);
	if (!err)
		err = write_options(&w, writing);
	if (!err)
		err = weir__location_check(&to, WEIR__TO_WRITE, copy_call);
	if (err)
		return err;
	return to.form == WEIR_LOCATION_ROOM && !w.zstd_level ?
	       copy_to_memory(&to, &from, &r) : copy_by_memory(&to, &from, &r, &w);
}
