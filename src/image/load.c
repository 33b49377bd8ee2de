/* SPDX-License-Identifier: MIT
 * Loading: an image is read into the filter's own memory. Every byte is checked before there is a
 * filter. And the same without a filter: verification, and what the head holds. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "filter/filter.h"
#include "ground/error.h"
#include "hash/hash.h"
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

/* The members, and a compound of them. */
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

/* Members that lie in one array: each goes into it as it is read, so that no two are in memory at a
 * time. */
static int put(void *whole, unsigned i, const struct weir_member *member)
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
	struct weir_load_options each = *options; /* flags and memory are for the whole */
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
	err = weir__members_give(put, f, preface, source, &each);
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
	if (!weir__is_compound(preface))
		return weir__bits_load(out, source, preface, options);
	return preface->kind->thaw ? thaw(out, source, preface, options) :
	                             compound_load(out, source, preface, options);
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
	if (!err && preface.head.marks & WEIR_MARK_KEYED && options->secret == weir__no_secret)
		weir__filter_keyless(f);
	if (!err) {
		err = weir__preface_can(&preface, f, options->can, source->name);
		if (err)
			weir_destroy(f);
		else
			*out = f;
	}
	weir__preface_free(&preface);
	return err;
}

static int load(struct weir_filter **out, struct weir_source *source,
                const struct weir_load_options *options)
{
	struct weir_load_options o;
	if (!out)
		return weir__fail(-EINVAL, "out is NULL: the loaded filter needs a place");
	int err = weir__load_options(&o, options);
	if (!err && o.no_verify)
		err = weir__fail(-EINVAL,
		                 "no_verify is for weir_map: what is read is always checked");
	if (!err)
		err = weir__memory_given(o.memory, o.memory_bytes);
	if (o.keyless && !o.secret)
		o.secret = weir__no_secret;
	return err ? err : weir__source_load(out, source, &o);
}

int weir_load(struct weir_filter **out, const char *path, const struct weir_load_options *options)
{
	struct weir_source source;
	int err = weir__source_open(&source, path, O_RDONLY);
	if (err)
		return err;
	err = weir__source_settle(&source, load(out, &source, options));
	weir__source_close(&source);
	return err;
}

int weir__source_of_fd(struct weir_source *source, int fd, char name[32])
{
	struct stat st;
	*source = (struct weir_source){ .name = name, .fd = fd, .length = UINT64_MAX };
	snprintf(name, 32, "file descriptor %d", fd);
	if (fstat(fd, &st))
		return weir__fail(-errno, "%s: is not an open file", name);
	if (S_ISDIR(st.st_mode))
		return weir__fail(-EISDIR, "%s: is a directory, not an image", name);
	off_t at = S_ISREG(st.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
	if (at >= 0)
		source->length = st.st_size > at ? (uint64_t)(st.st_size - at) : 0;
	return 0;
}

int weir_load_fd(struct weir_filter **out, int fd, const struct weir_load_options *options)
{
	char name[32];
	struct weir_source source;
	int err = weir__source_of_fd(&source, fd, name);
	return err ? err : load(out, &source, options);
}

int weir__source_of_memory(struct weir_source *source, const void *image, size_t bytes)
{
	*source = (struct weir_source){
		.name = "the image in memory",
		.fd = -1,
		.memory = image,
		.length = bytes,
		.exact = true
	};
	return image ? 0 : weir__fail(-EINVAL, "image is NULL: %zu bytes of memory that hold an "
	                              "image", bytes);
}

int weir_load_memory(struct weir_filter **out, const void *image, size_t bytes,
                     const struct weir_load_options *options)
{
	struct weir_source source;
	int err = weir__source_of_memory(&source, image, bytes);
	return err ? err : load(out, &source, options);
}

/* Of what has more than bits all of it has to be there. */
static int verify_array(struct weir_source *source, const struct weir_preface *preface,
                        const struct weir_load_options *options)
{
	struct weir_load_options looks = *options;
	struct weir_filter *f;
	if (!preface->kind->check)
		return weir__bits_read(source, preface, options, NULL);
	looks.secret = weir__no_secret;
	int err = weir__bits_load(&f, source, preface, &looks);
	if (!err)
		weir_destroy(f);
	return err;
}

static int verify(struct weir_source *source, const struct weir_load_options *options)
{
	struct weir_load_options o;
	struct weir_preface preface;
	struct weir_layout layout;
	int err = weir__load_options(&o, options);
	if (!err && (o.flags || o.no_verify || o.memory || o.memory_bytes))
		err = weir__fail(-EINVAL, "flags 0x%x, no_verify %d, memory %p, memory_bytes %zu: "
		                 "weir_image_verify takes none of them: it checks and keeps "
		                 "nothing", o.flags, o.no_verify, o.memory, o.memory_bytes);
	if (!err)
		err = weir__preface_read(&preface, source, o.max_bytes, false);
	if (err)
		return err;
	/* no key is needed, but one that is given must be the right one */
	err = weir__preface_layout(&layout, &preface, o.secret ? o.secret : weir__no_secret,
	                           source->name);
	if (!err)
		err = weir__is_compound(&preface) ?
		      weir__members_verify(&preface, source, &o) :
		      verify_array(source, &preface, &o);
	weir__preface_free(&preface);
	return err;
}

int weir_image_verify(const char *path, const struct weir_load_options *options)
{
	struct weir_source source;
	int err = weir__source_open(&source, path, O_RDONLY);
	if (err)
		return err;
	err = weir__source_settle(&source, verify(&source, options));
	weir__source_close(&source);
	return err;
}

int weir_image_verify_fd(int fd, const struct weir_load_options *options)
{
	char name[32];
	struct weir_source source;
	int err = weir__source_of_fd(&source, fd, name);
	return err ? err : verify(&source, options);
}

int weir_image_info(const char *path, struct weir_image_info *out)
{
	struct weir_source source;
	struct weir_preface p;
	int err = weir__size_check(out, sizeof *out, "weir_image_info");
	if (!err)
		err = weir__source_open(&source, path, O_RDONLY);
	if (err)
		return err;
	err = weir__source_settle(&source, weir__preface_read(&p, &source, 0, true));
	weir__source_close(&source);
	if (err)
		return err;
	struct weir_layout layout;
	/* cannot fail: no key is asked for */
	(void)weir__preface_layout(&layout, &p, weir__no_secret, path);
	struct weir_image_info info = {
		.struct_size = out->struct_size,
		.format = weir__image_format(&p.head),
		.shape = layout.shape,
		.shards = layout.shards,
		.capacity = layout.capacity,
		.fp_rate = layout.fp_rate,
		.bytes = 64 * layout.lines,
		.file_bytes = source.length,
		.generation = p.head.generation,
		.seed_fingerprint = weir__seed_fingerprint(p.head.seed),
		.compressed = p.head.compression != WEIR_IMAGE_PLAIN,
		.live = p.head.commit == WEIR_IMAGE_LIVE,
		.keyed = p.head.marks & WEIR_MARK_KEYED,
		.overfull_allowed = p.head.marks & WEIR_MARK_OVERFULL_ALLOWED,
		.shrink_allowed = p.head.marks & WEIR_MARK_SHRINK_ALLOWED,
		.hash = layout.hashing.by->name,
		.text = layout.text
	};
	weir__preface_free(&p);
	memcpy(out, &info, out->struct_size);
	return 0;
}
