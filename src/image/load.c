/* SPDX-License-Identifier: MIT
 * Loads an image into the filter's own memory. Every byte is checked before the caller gets the
 * filter. */
#include "filter/filter.h"
#include "ground/error.h"
#include "image/compound.h"
#include "image/load.h"

int weir__load_options(struct weir_load_options *out, const struct weir_load_options *options)
{
	struct weir_load_options o = WEIR_LOAD_OPTIONS_INIT;
	int err = weir__options_copy(&o, sizeof o, options, "weir_load_options");
	if (!err)
		err = weir__flags_check(o.flags);
	if (!err && o.can & ~(uint32_t)WEIR_CAN_ALL)
		err = weir__fail(-EINVAL, "options.can %#x: there is no such ability", o.can);
	*out = o;
	return err;
}

static int compound_load(struct weir_filter **out, struct weir_source *source,
                         const struct weir_preface *preface,
                         const struct weir_load_options *options)
{
	struct weir_member member[WEIR_IMAGE_MEMBERS];
	struct weir_layout layout;
	const unsigned n = preface->head.members;
	int err = weir__preface_layout(&layout, preface, options->secret, source->name);
	if (!err)
		err = weir__members_load(member, preface, source, options);
	if (err)
		return err;
	layout.flags = options->flags;
	err = weir__members_join(out, &layout, member, n, 0, source->name);
	if (!err)
		(*out)->marks = preface->head.marks;
	return err;
}

/* Copy a member into the array that all members share, as soon as the member is read. So only one
 * member is in memory besides the array. */
static int put_member(void *whole, unsigned i, const struct weir_member *member)
{
	struct weir_filter *f = whole;
	f->kind->put(f, i, member->f);
	weir_destroy(member->f);
	return 0;
}

static int thaw(struct weir_filter **out, struct weir_source *source,
                const struct weir_preface *preface, const struct weir_load_options *options)
{
	const struct weir_kind *kind = preface->kind;
	/* without options->flags and options->memory, which apply to the shared array */
	struct weir_load_options each = *options;
	struct weir_layout layout;
	struct weir_filter *f;
	int err = weir__preface_layout(&layout, preface, options->secret, source->name);
	if (err)
		return err;
	const struct weir_parts parts = weir__parts_of(preface, &layout);
	err = kind->thaw(&f, &parts, options);
	if (err)
		return weir__fail(err, "%s: %s", source->name, weir_error_detail());
	f->marks = preface->head.marks;
	each.flags = 0;
	each.memory = NULL;
	each.memory_bytes = 0;
	err = weir__members_give(put_member, f, preface, source, &each);
	if (!err)
		err = kind->thawed(f, options);
	if (err)
		weir_destroy(f);
	else
		*out = f;
	return err;
}

int weir__preface_load(struct weir_filter **out, struct weir_source *source,
                       const struct weir_preface *preface, const struct weir_load_options *options)
{
	int err = weir__once_check(options->flags, preface->kind);
	if (err)
		return weir__fail(err, "%s: options.%s", source->name, weir_error_detail());
	if (!weir__is_compound(preface))
		return weir__bits_load(out, source, preface, options);
	return preface->kind->thaw ? thaw(out, source, preface, options) :
	                             compound_load(out, source, preface, options);
}

int weir__preface_settle(struct weir_filter **out, struct weir_filter *f,
                         const struct weir_preface *preface,
                         const struct weir_load_options *options, const char *name)
{
	if (preface->head.marks & WEIR_MARK_KEYED && options->secret == weir__no_secret)
		weir__filter_keyless(f);
	int err = weir__preface_can(preface, f, options->can, name);
	if (err) {
		weir_destroy(f);
		return err;
	}
	f->marks = preface->head.marks;
	*out = f;
	return 0;
}

int weir__source_load(struct weir_filter **out, struct weir_source *source,
                      const struct weir_load_options *options)
{
	struct weir_preface preface;
	int err = weir__preface_read(&preface, source, options->max_bytes, false);
	if (err)
		return err;
	struct weir_filter *f;
	err = weir__preface_can(&preface, NULL, options->can, source->name);
	if (!err)
		err = weir__preface_load(&f, source, &preface, options);
	if (!err)
		err = weir__preface_settle(out, f, &preface, options, source->name);
	weir__preface_free(&preface);
	return err;
}
