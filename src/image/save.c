/* SPDX-License-Identifier: MIT
 * Saving to a file or a stream. For a stream the whole filter is copied first, which takes as much
 * memory as the filter (write.c). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "ground/error.h"
#include "image/compound.h"
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
	int err = weir__save_options(out, options);
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

/* Of a kind whose members lie in one array: copies, the caller's. */
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

/* Members may have been added meanwhile; those that were saved are still the first ones (M2). */
static void renew_notes(void *f, struct weir_compound *c)
{
	struct weir_member now[WEIR__MEMBERS_MOST];
	(void)weir__members(f, now);
	for (unsigned i = 0; i < c->n; i++)
		c->member[i].note = now[i].note;
}

static int write_file(void *filter, int fd, const char *path,
                      const struct weir_save_options *options)
{
	const struct weir_filter *f = filter;
	struct weir_writing w;
	struct weir_compound c;
	if (f->kind->members) {
		compound_of(&c, f);
		return weir__compound_write(&c, fd, path, options, renew_notes, filter);
	}
	int err = weir__writing_begin(&w, f, fd, path, options);
	if (err)
		return err;
	err = weir__write_file(&w);
	weir__writing_end(&w);
	return err;
}

static int write_frozen(void *compound, int fd, const char *path,
                        const struct weir_save_options *options)
{
	return weir__compound_write(compound, fd, path, options, NULL, NULL);
}

static int write_stream(const struct weir_filter *still, int fd, const char *name,
                        const struct weir_save_options *options)
{
	struct weir_writing w;
	struct weir_compound c;
	if (still->kind->members) {
		compound_of(&c, still);
		return weir__compound_stream(&c, fd, name, options);
	}
	int err = weir__writing_begin(&w, still, fd, name, options);
	if (err)
		return err;
	weir__write_sums(&w);
	err = weir__write_stream(&w);
	weir__writing_end(&w);
	return err;
}

/* @named: as for weir__replace_begin(). */
static int save_as(weir__write_fn *write, void *what, const char *path,
                   const struct weir_save_options *options, bool named)
{
	struct weir_replace r;
	int err = weir__replace_begin(&r, path, options->mode, named);
	if (err)
		return err;
	r.only_images = options->only_images; /* when it is replaced, */
	if (options->only_images) /* and before all of it is written */
		err = weir__target_check_image(&r.target, path);
	if (!err)
		err = write(what, r.new.fd, path, options);
	if (!err && options->written && fstat(r.new.fd, options->written) != 0)
		err = weir__fail(-errno, "%s: cannot ask for what was written: %s", path,
		                 weir_strerror(errno));
	if (!err)
		err = weir__replace_publish(&r);
	weir__replace_end(&r);
	return err;
}

int weir__save_path(weir__write_fn *write, void *what, const char *path,
                    const struct weir_save_options *options)
{
	int err = save_as(write, what, path, options, false);
	return err == WEIR_REPLACE_NAMED ? save_as(write, what, path, options, true) : err;
}

int weir__save_path_check(const char *path)
{
	return path ? 0 : weir__fail(-EINVAL, "path is NULL: the file to save to");
}

int weir__save_fd_check(int fd, char name[WEIR__FD_NAME])
{
	snprintf(name, WEIR__FD_NAME, "file descriptor %d", fd);
	return fcntl(fd, F_GETFD) < 0 ? weir__fail(-errno, "%s: is not open", name) : 0;
}

/* While a filter is held, inserts wait, and with them whoever waits for a grace period: no longer
 * than for memory, not for compression and a disk. */
static int save_a_copy(const struct weir_filter *f, const char *path,
                       const struct weir_save_options *options)
{
	struct weir_filter *still;
	int err = weir_clone(&still, f);
	if (err)
		return err;
	err = weir__save_path(write_file, still, path, options);
	weir_destroy(still);
	return err;
}

static int save_frozen(const struct weir_filter *f, const char *path,
                       const struct weir_save_options *options)
{
	struct weir_compound c;
	int err = frozen_of(&c, f);
	if (err)
		return err;
	err = weir__save_path(write_frozen, &c, path, options);
	weir__members_free(c.member, c.n);
	return err;
}

static int stream_frozen(const struct weir_filter *f, int fd, const char *name,
                         const struct weir_save_options *options)
{
	struct weir_compound c;
	int err = frozen_of(&c, f);
	if (err)
		return err;
	err = weir__compound_stream(&c, fd, name, options);
	weir__members_free(c.member, c.n);
	return err;
}

int weir_save(const struct weir_filter *f, const char *path,
              const struct weir_save_options *options)
{
	struct weir_save_options o;
	int err = weir__save_path_check(path);
	if (!err)
		err = save_check(f, &o, options);
	if (err)
		return err;
	if (f->kind->freeze)
		return save_frozen(f, path, &o);
	if (f->kind->hold)
		return save_a_copy(f, path, &o);
	weir__whole_begin(f, "weir_save");
	err = weir__save_path(write_file, (void *)(uintptr_t)f, path, &o);
	weir__whole_end(f);
	return err;
}

int weir_save_fd(const struct weir_filter *f, int fd, const struct weir_save_options *options)
{
	char name[WEIR__FD_NAME];
	struct weir_save_options o;
	struct weir_filter *still;
	int err = save_check(f, &o, options);
	if (!err)
		err = weir__save_fd_check(fd, name);
	if (!err && f->kind->freeze)
		return stream_frozen(f, fd, name, &o);
	if (!err)
		err = weir_clone(&still, f);
	if (err)
		return err;
	err = write_stream(still, fd, name, &o);
	weir_destroy(still);
	return err;
}
