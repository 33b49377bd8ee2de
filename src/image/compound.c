/* SPDX-License-Identifier: MIT
 * Reads the images of compounds, member by member: see compound.h. */
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include "ground/error.h"
#include "image/compound.h"
#include "image/load.h"

/* The state of reading all members. Each member is read from a copy of struct weir_source that
 * covers the bytes from the member on. */
struct members {
	const struct weir_preface *whole;
	struct weir_source *source;
	struct weir_load_options options; /* the options with which a member is read */
	const struct weir_load_options *asked; /* the caller's options */
	uint64_t from;   /* the offset of the image in the source */
	unsigned now;    /* the number of the current member */
	uint64_t before; /* bytes of bits in the earlier members */
	weir__give_fn *give; /* a function that receives each member, or NULL */
	void *give_arg;      /* the argument of give or each */
	weir__each_fn *each; /* a function that reads the bits of each member, or NULL */
	/* only for a mapped image: */
	unsigned char *image;
	int insert_error;
};

/* Members that are kept until all members have been read. */
struct kept {
	struct weir_member *out;
	unsigned n;
};

static int keep(void *arg, unsigned i, const struct weir_member *member)
{
	struct kept *kept = arg;
	kept->out[i] = *member;
	kept->n++;
	return 0;
}

/* Reads a member. @rest: the source, positioned at the member's bits.  @at: the offset of the
 * member in the whole image.  @f: receives the filter, if one is made. */
typedef int take_fn(struct members *m, const struct weir_preface *p, struct weir_source *rest,
                    uint64_t at, struct weir_filter **f);

static int members_progress(void *arg, uint64_t done, uint64_t total)
{
	const struct members *m = arg;
	(void)total;
	return m->asked->progress(m->asked->progress_arg, m->before + done,
	                          64 * m->whole->head.nblocks);
}

static struct members members_begin(const struct weir_preface *whole, struct weir_source *source,
                                    const struct weir_load_options *options)
{
	struct members m = { .whole = whole,
		             .source = source,
		             .options = *options,
		             .asked = options,
		             .from = source->at - weir__image_bits_offset(&whole->head) };
	return m;
}

/* Put the image's name in front of the error message. */
static int failed_in(const char *name, int err)
{
	return weir__fail(err, "%s: %s", name, weir_error_detail());
}

#define DIFFERS(m, i, what, format, member, head) \
	weir__fail(-EBADMSG, "%s: member %u: " what " is " format " where the compound has " \
	           format, (m)->source->name, i, member, head)

/* Check a member's head ([MEMBER-TABLE], [MEMBERS-AGREE], [NO-NESTING]). */
static int member_check(const struct members *m, unsigned i, const struct weir_preface *p)
{
	const struct weir_image_head *whole = &m->whole->head, *head = &p->head;
	uint64_t commit = weir__image_get64(m->whole->table + WEIR_IMAGE_MEMBER * i + 8);
	uint64_t left = whole->nblocks - m->before / 64;
	if (weir__is_compound(p))
		return weir__fail(-EBADMSG, "%s: member %u: is a compound itself", m->source->name,
		                  i);
	if (head->commit != commit)
		return DIFFERS(m, i, "commit record", "%016llx", (unsigned long long)head->commit,
		               (unsigned long long)commit);
	if (head->compression != whole->compression)
		return DIFFERS(m, i, "compression", "%u", head->compression, whole->compression);
	if (head->hash != whole->hash)
		return DIFFERS(m, i, "hash", "%u", head->hash, whole->hash);
	if (head->seed != whole->seed)
		return DIFFERS(m, i, "seed", "%016llx", (unsigned long long)head->seed,
		               (unsigned long long)whole->seed);
	if (head->marks != whole->marks)
		return DIFFERS(m, i, "the word of marks", "%u", head->marks, whole->marks);
	if (memcmp(&head->text, &whole->text, sizeof head->text))
		return weir__fail(-EBADMSG, "%s: member %u: what is done to keys is not what the "
		                  "compound has", m->source->name, i);
	if (head->generation != whole->generation)
		return DIFFERS(m, i, "generation", "%llu", (unsigned long long)head->generation,
		               (unsigned long long)whole->generation);
	if (head->nblocks > left || (i + 1 == whole->members && head->nblocks < left))
		return weir__fail(-EBADMSG, "%s: member %u: blocks is %llu where the compound has "
		                  "%llu left", m->source->name, i,
		                  (unsigned long long)head->nblocks, (unsigned long long)left);
	return 0;
}

static uint64_t note_of(const struct weir_preface *whole, unsigned i)
{
	return weir__image_get64(whole->table + WEIR_IMAGE_MEMBER * i);
}

struct weir_parts weir__parts_of(const struct weir_preface *whole, const struct weir_layout *layout)
{
	struct weir_parts parts = { layout, whole->head.own, whole->head.members, { 0 } };
	for (unsigned i = 0; i < parts.n; i++)
		parts.note[i] = note_of(whole, i);
	return parts;
}

/* Let the compound's kind check a member ([NO-NESTING]). */
static int check_suits(const struct members *m, const struct weir_preface *p)
{
	const struct weir_preface *whole = m->whole;
	struct weir_layout compound = { .kind = whole->kind }, member;
	struct weir_parts parts = weir__parts_of(whole, &compound);
	/* cannot fail: weir__no_secret skips the check of the key */
	(void)weir__preface_layout(&compound, whole, weir__no_secret, m->source->name);
	(void)weir__preface_layout(&member, p, weir__no_secret, m->source->name);
	int err = whole->kind->suits(&parts, m->now, &member);
	return err ? failed_in(m->source->name, err) : 0;
}

/* Go to member @i and read its preface. @rest: receives a source at the member's bits. */
static int member_open(struct members *m, unsigned i, struct weir_source *rest,
                       struct weir_preface *p)
{
	struct weir_source *source = m->source;
	int err = weir__source_zeros(source, weir__to_page(source->at - m->from));
	if (err)
		return err;
	*rest = *source;
	rest->exact = false;
	rest->at = 0;
	rest->length = source->length == UINT64_MAX ? UINT64_MAX : source->length - source->at;
	err = weir__preface_read(p, rest, 0, false);
	if (!err) {
		err = member_check(m, i, p);
		if (!err)
			err = check_suits(m, p);
		if (err)
			weir__preface_free(p);
	}
	source->syscall_failed = rest->syscall_failed;
	return err;
}

static void member_close(struct members *m, const struct weir_source *rest,
                         struct weir_preface *p)
{
	m->source->at += rest->at;
	m->source->memory = rest->memory;
	m->source->syscall_failed = rest->syscall_failed;
	m->before += 64 * p->head.nblocks;
	weir__preface_free(p);
}

/* Check that the image ends after the last member. */
static int members_end(const struct members *m)
{
	const struct weir_image_head *whole = &m->whole->head;
	uint64_t bytes = m->source->at - m->from;
	if (whole->compression == WEIR_IMAGE_PLAIN && bytes != whole->length)
		return weir__fail(-EBADMSG, "%s: length is %llu, and the members end at byte %llu",
		                  m->source->name, (unsigned long long)whole->length,
		                  (unsigned long long)bytes);
	return m->source->exact ? weir__source_end(m->source) : 0;
}

static void options_of(struct members *m, unsigned i)
{
	if (m->asked->progress) {
		m->options.progress = members_progress;
		m->options.progress_arg = m;
	}
	if (i) { /* only the first member gets the caller's memory */
		m->options.memory = NULL;
		m->options.memory_bytes = 0;
	}
}

static int each_member(struct members *m, take_fn *take)
{
	const struct weir_preface *whole = m->whole;
	int err = 0;
	while (!err && m->now < whole->head.members) {
		struct weir_filter *f = NULL;
		struct weir_source rest;
		struct weir_preface p;
		options_of(m, m->now);
		err = member_open(m, m->now, &rest, &p);
		if (err)
			break;
		err = take(m, &p, &rest, m->source->at - m->from, &f);
		if (!err && m->give)
			err = m->give(m->give_arg, m->now,
			              &(struct weir_member){ f, note_of(m->whole, m->now) });
		m->now += !err;
		member_close(m, &rest, &p);
	}
	return err ? err : members_end(m);
}

static int keep_each(struct members *m, take_fn *take, struct weir_member *out)
{
	struct kept kept = { out, 0 };
	m->give = keep;
	m->give_arg = &kept;
	int err = each_member(m, take);
	if (err)
		weir__members_free(out, kept.n);
	return err;
}

static int take_bits(struct members *m, const struct weir_preface *p, struct weir_source *rest,
                     uint64_t at, struct weir_filter **f)
{
	(void)at;
	return weir__bits_load(f, rest, p, &m->options);
}

static int each_bits(struct members *m, const struct weir_preface *p, struct weir_source *rest,
                     uint64_t at, struct weir_filter **f)
{
	(void)at, (void)f;
	return m->each(m->give_arg, m->now, p, rest, &m->options);
}

/* Skip the bits of a plain member without reading them. The bits exist, since the length of the
 * file was checked. */
static int skip_bits(struct weir_source *rest, uint64_t bytes)
{
	if (rest->fd < 0)
		rest->memory += bytes;
	else if (lseek(rest->fd, (off_t)bytes, SEEK_CUR) < 0)
		return weir__fail(weir__syscall_failed(rest, -errno), "%s: cannot pass over %llu "
		                  "bytes: %s", rest->name, (unsigned long long)bytes,
		                  weir_strerror(errno));
	rest->at += bytes;
	return 0;
}

/* Make a filter around the mapped bits of a member. */
static int take_mapped(struct members *m, const struct weir_preface *p, struct weir_source *rest,
                       uint64_t at, struct weir_filter **f)
{
	struct weir_layout layout;
	unsigned char *bits = m->image + at + weir__image_bits_offset(&p->head);
	struct weir_memory memory = { .bits = (uint64_t *)(void *)bits };
	int err = m->asked->no_verify ? skip_bits(rest, 64 * p->head.nblocks) :
	                                weir__bits_read(rest, p, &m->options, NULL);
	if (!err)
		err = weir__preface_layout(&layout, p, m->asked->secret, m->source->name);
	if (!err)
		err = weir__filter_make(f, &layout, &memory, m->insert_error);
	if (!err)
		(*f)->marks = p->head.marks;
	return err;
}

int weir__members_load(struct weir_member out[WEIR_IMAGE_MEMBERS],
                       const struct weir_preface *whole, struct weir_source *source,
                       const struct weir_load_options *options)
{
	struct members m = members_begin(whole, source, options);
	return keep_each(&m, take_bits, out);
}

int weir__members_give(weir__give_fn *give, void *arg, const struct weir_preface *whole,
                       struct weir_source *source, const struct weir_load_options *options)
{
	struct members m = members_begin(whole, source, options);
	m.give = give;
	m.give_arg = arg;
	return each_member(&m, take_bits);
}

int weir__members_each(weir__each_fn *each, void *arg, const struct weir_preface *whole,
                       struct weir_source *source, const struct weir_load_options *options)
{
	struct members m = members_begin(whole, source, options);
	m.each = each;
	m.give_arg = arg;
	return each_member(&m, each_bits);
}

int weir__members_map(struct weir_member out[WEIR_IMAGE_MEMBERS], unsigned char *image,
                      const struct weir_preface *whole, struct weir_source *source,
                      const struct weir_load_options *options, int insert_error)
{
	struct members m = members_begin(whole, source, options);
	m.image = image;
	m.insert_error = insert_error;
	return keep_each(&m, take_mapped, out);
}

int weir__members_join(struct weir_filter **out, const struct weir_layout *layout,
                       const struct weir_member *members, unsigned n, int insert_error,
                       const char *name)
{
	int err = weir__compound_make(out, layout, members, n, insert_error);
	if (!err)
		return 0;
	err = failed_in(name, err);
	weir__members_free(members, n);
	return err;
}
