/* SPDX-License-Identifier: MIT
 * Writing the images of compounds, member by member. To a file the head is written last. A stream
 * begins with it, so the members' heads are computed first. */
#include <string.h>
#include "ground/error.h"
#include "hash/hash.h"
#include "image/compound.h"
#include "image/save.h"

enum { PAGE = 4096 };

static uint64_t bits_of(const struct weir_compound *c)
{
	uint64_t bytes = 0;
	for (unsigned i = 0; i < c->n; i++)
		bytes += c->member[i].f->bytes;
	return bytes;
}

/* What the head has of its members (C2). @length: 0 compressed. */
static void complete_head(struct weir_compound *c, const struct weir_save_options *options,
                          uint64_t length)
{
	struct weir_image_head own = c->head;
	weir__head_of(c->member[0].f, options->zstd_level ? WEIR_IMAGE_ZSTD : WEIR_IMAGE_PLAIN,
	              options->generation, options->marks, &c->head);
	c->head.shape = own.shape;
	c->head.capacity = own.capacity;
	c->head.rate_bits = own.rate_bits;
	c->head.normal = own.normal;
	memcpy(c->head.own, own.own, sizeof own.own);
	c->head.shards = 1;
	c->head.nblocks = bits_of(c) / 64;
	c->head.members = c->n;
	c->head.length = options->zstd_level ? 0 : length;
}

/* Write head and table: at offset 0, or if @at is negative, at the file's position. */
static int write_head(struct weir_compound *c, const uint64_t commits[], int fd, const char *name,
                      int64_t at)
{
	unsigned char page[PAGE] = { 0 }, *row = page + WEIR_IMAGE_HEAD;
	for (unsigned i = 0; i < c->n; i++, row += WEIR_IMAGE_MEMBER) {
		weir__image_put64(row, c->member[i].note);
		weir__image_put64(row + 8, commits[i]);
	}
	weir__head_commit(&c->head, page + WEIR_IMAGE_HEAD, page);
	return weir__write(fd, name, page, sizeof page, at);
}

/* A member's image: what is done to keys is noted of the whole. */
static int member_begin(struct weir_writing *w, const struct weir_compound *c, unsigned i, int fd,
                        const char *name, const struct weir_save_options *options)
{
	int err = weir__writing_begin(w, c->member[i].f, fd, name, options);
	w->head.normal = c->head.normal;
	return err;
}

int weir__compound_write(struct weir_compound *c, int fd, const char *name,
                         const struct weir_save_options *options,
                         void (*renew)(void *arg, struct weir_compound *c), void *arg)
{
	uint64_t commits[WEIR_IMAGE_MEMBERS], at = PAGE, before = 0, end = at;
	for (unsigned i = 0; i < c->n; i++, at = end + weir__to_page(end)) {
		struct weir_writing w;
		int err = member_begin(&w, c, i, fd, name, options);
		if (err)
			return err;
		w.at = at;
		w.before = before;
		w.total = bits_of(c);
		err = weir__write_file(&w);
		commits[i] = w.head.commit;
		end = at + weir__written(&w);
		before += c->member[i].f->bytes;
		weir__writing_end(&w);
		if (err)
			return err;
	}
	if (renew)
		renew(arg, c);
	complete_head(c, options, end);
	return write_head(c, commits, fd, name, 0);
}

/* The commit records, and in a plain image the end of the last member. */
static int sum_members(struct weir_compound *c, const char *name,
                       const struct weir_save_options *options, uint64_t commits[], uint64_t *end)
{
	*end = PAGE;
	for (unsigned i = 0; i < c->n; i++) {
		struct weir_writing w;
		int err = member_begin(&w, c, i, -1, name, options);
		if (err)
			return err;
		weir__write_sums(&w);
		commits[i] = w.head.commit;
		*end += weir__to_page(*end) + weir__image_length(&w.head);
		weir__writing_end(&w);
	}
	return 0;
}

static int stream_members(struct weir_compound *c, int fd, const char *name,
                          const struct weir_save_options *options)
{
	uint64_t before = 0, end = PAGE;
	for (unsigned i = 0; i < c->n; i++) {
		struct weir_writing w;
		int err = weir__write_zeros(fd, name, weir__to_page(end));
		if (!err)
			err = member_begin(&w, c, i, fd, name, options);
		if (err)
			return err;
		w.before = before;
		w.total = bits_of(c);
		weir__write_sums(&w);
		err = weir__write_stream(&w);
		end = weir__written(&w); /* each begins on a page */
		before += c->member[i].f->bytes;
		weir__writing_end(&w);
		if (err)
			return err;
	}
	return 0;
}

int weir__compound_stream(struct weir_compound *c, int fd, const char *name,
                          const struct weir_save_options *options)
{
	uint64_t commits[WEIR_IMAGE_MEMBERS], end;
	int err = sum_members(c, name, options, commits, &end);
	if (err)
		return err;
	complete_head(c, options, end);
	err = write_head(c, commits, fd, name, -1);
	return err ? err : stream_members(c, fd, name, options);
}
