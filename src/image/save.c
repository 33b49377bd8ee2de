/* SPDX-License-Identifier: MIT
 * Saves to a file, a stream or memory. For a stream the whole filter is copied first, since a
 * stream begins with the checksums of all bits (write.c). */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include "ground/error.h"
#include "image/compound.h"
#include "image/location.h"
#include "image/replace.h"
#include "image/save.h"
#include "kind/kind.h"
#include "normalise/normalise.h"

int weir__save_options(struct weir_save_options *out, const struct weir_save_options *options)
{
	const uint32_t allowed = WEIR_MARK_OVERFULL_ALLOWED | WEIR_MARK_SHRINK_ALLOWED;
	struct weir_save_options o = WEIR_SAVE_OPTIONS_INIT;
	int err = weir__options_copy(&o, sizeof o, options, "weir_save_options");
	if (!err && (o.zstd_level < 0 || o.zstd_level > 19))
		err = weir__fail(-EINVAL, "zstd_level %d: allowed: 0 to 19", o.zstd_level);
	if (!err && o.marks & ~allowed)
		err = weir__fail(-EINVAL, "marks 0x%x: 0x%x may be given", o.marks, allowed);
	if (!err && o.mode > 0777)
		err = weir__fail(-EINVAL, "mode 0%o: permissions from 0 to 0777", o.mode);
	*out = o;
	return err;
}

static int save_check(const struct weir_filter *f, struct weir_save_options *out,
                      const struct weir_save_options *options)
{
	const struct weir_kind *kind = f->kind;
	if (!kind->snapshot && !kind->members && !kind->freeze)
		return weir__kind_cannot(kind, "be saved");
	int err = weir__set_check(f, "weir_save");
	if (!err)
		err = weir__save_options(out, options);
	if (!err && out->marks && !(weir__kind_can(kind) & WEIR_CAN_PUBLISH))
		err = weir__fail(-EINVAL, "marks 0x%x: 0: a %s replaces no set that is served",
		                 out->marks, kind->name);
	return err;
}

/* ---- compounds: compound.h ---- */

static struct weir_compound whole_of(const struct weir_filter *f)
{
	struct weir_compound c = { .head = { .shape = f->array.shape,
		                             .capacity = f->capacity,
		                             .text = weir__text_now(&f->text),
		                             .own = { f->max_capacity } } };
	memcpy(&c.head.rate_bits, &f->fp_rate, sizeof f->fp_rate);
	return c;
}

static void compound_of(struct weir_compound *c, const struct weir_filter *f)
{
	*c = whole_of(f);
	c->n = weir__members(f, c->member);
}

/* Copy the members of a kind whose members share one array. The caller owns the copies. */
static int frozen_of(struct weir_compound *c, const struct weir_filter *f)
{
	struct weir_frozen frozen;
	int err = f->kind->freeze(f, &frozen);
	if (err)
		return err;
	*c = whole_of(f);
	c->n = frozen.n;
	memcpy(c->member, frozen.member, sizeof c->member);
	memcpy(c->head.own, frozen.own, sizeof c->head.own);
	return 0;
}

/* Update the notes (struct weir_member) of the saved members. Members may have been added during
 * the save, but the saved members are still the first members ([MEMBERS-STAY]). */
static void renew_notes(void *f, struct weir_compound *c)
{
	struct weir_member now[WEIR__MEMBERS_MOST];
	(void)weir__members(f, now);
	for (unsigned i = 0; i < c->n; i++)
		c->member[i].note = now[i].note;
}

int weir__write_filter(void *filter, struct weir_sink *to, const struct weir_save_options *options)
{
	const struct weir_filter *f = filter;
	struct weir_writing w;
	struct weir_compound c;
	if (f->kind->members) {
		compound_of(&c, f);
		return weir__compound_write(&c, to, options, renew_notes, filter);
	}
	int err = weir__writing_begin(&w, f, to, options);
	if (err)
		return err;
	err = weir__write_image(&w);
	weir__writing_end(&w);
	return err;
}

static int write_frozen(void *compound, struct weir_sink *to,
                        const struct weir_save_options *options)
{
	return weir__compound_write(compound, to, options, NULL, NULL);
}

/* ---- writing to a location ---- */

/* Write a new file and give it the name @path. @named: as for weir__replace_begin(). */
static int64_t replace(weir__write_fn *write, void *what, const char *path,
                       const struct weir_save_options *options, bool named)
{
	struct weir_replace r;
	int err = weir__replace_begin(&r, path, options->mode, named);
	if (err)
		return err;
	struct weir_sink to = { .name = path, .fd = r.new.fd };
	r.only_images = options->only_images; /* checked again at the rename */
	r.replaces = options->replaces;
	if (options->only_images) /* check before the new file is written */
		err = weir__target_check_image(&r.target, path);
	if (!err && r.replaces)
		err = weir__target_look(&r.target, r.replaces, path);
	if (!err)
		err = write(what, &to, options);
	if (!err && options->written && fstat(r.new.fd, options->written) != 0)
		err = weir__fail(-errno, "%s: cannot ask for what was written: %s", path,
		                 weir_strerror(errno));
	if (!err)
		err = weir__replace_publish(&r);
	weir__replace_end(&r);
	return err ? err : (int64_t)to.end;
}

int64_t weir__save_to(weir__write_fn *write, void *what, const struct weir_location *to,
                      const struct weir_save_options *options)
{
	char name[WEIR__FD_NAME];
	if (to->form == WEIR_LOCATION_PATH) {
		int64_t done = replace(write, what, to->path, options, false);
		return done == WEIR_REPLACE_NAMED ?
		       replace(write, what, to->path, options, true) : done;
	}
	struct weir_sink sink = { .name = weir__location_name(to, name),
		                  .fd = to->form == WEIR_LOCATION_FD ? to->fd : -1,
		                  .stream = to->form == WEIR_LOCATION_FD,
		                  .room = to->room,
		                  .bytes = to->bytes };
	int err = write(what, &sink, options);
	return err ? err : (int64_t)sink.end;
}

/* Save a copy of the filter. While a filter is held, inserts wait, and so do threads that wait for
 * a grace period. So hold the filter only while its bits are copied in memory, not while the copy
 * is compressed or written to a disk. A stream also needs bits that do not change. */
static int64_t save_a_copy(const struct weir_filter *f, const struct weir_location *to,
                           const struct weir_save_options *options)
{
	struct weir_filter *still;
	int err = weir_clone(&still, f);
	if (err)
		return err;
	int64_t done = weir__save_to(weir__write_filter, still, to, options);
	weir_destroy(still);
	return done;
}

static int64_t save_frozen(const struct weir_filter *f, const struct weir_location *to,
                           const struct weir_save_options *options)
{
	struct weir_compound c;
	int err = frozen_of(&c, f);
	if (err)
		return err;
	int64_t done = weir__save_to(write_frozen, &c, to, options);
	weir__members_free(c.member, c.n);
	return done;
}

int64_t weir_save(const struct weir_filter *f, struct weir_location to,
                  const struct weir_save_options *options)
{
	struct weir_save_options o;
	int err = save_check(f, &o, options);
	if (!err)
		err = weir__location_check(&to, WEIR__TO_WRITE, "weir_save");
	if (!err && !o.allow_uneven)
		err = weir__hashes_check(f, "weir_save");
	if (err)
		return err;
	if (f->kind->freeze)
		return save_frozen(f, &to, &o);
	if (f->kind->hold || to.form == WEIR_LOCATION_FD)
		return save_a_copy(f, &to, &o);
	weir__whole_begin(f, "weir_save");
	int64_t done = weir__save_to(weir__write_filter, (void *)(uintptr_t)f, &to, &o);
	weir__whole_end(f);
	return done;
}
