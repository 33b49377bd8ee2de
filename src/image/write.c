/* SPDX-License-Identifier: MIT
 * Writes images: an array, or a compound member by member. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ground/error.h"
#include "hash/hash.h"
#include "image/compound.h"
#include "image/save.h"

/* Writing one array. For a file each shard is copied, summed and written, in pieces if it is not
 * compressed. The head is written last. A stream begins with the head, which has the checksums, so
 * for a stream the bits must not change. */

void weir__writing_end(struct weir_writing *w)
{
	free(w->front);
	free(w->copy);
	if (w->options->zstd_level)
		weir__packer_end(&w->packer);
}

/* Return: the bytes of head, table and some padding: a power of two, or all bytes before the bits
 * if they are fewer. A live mapping writes to head and table, and a file system may then allocate a
 * whole large folio. Folios are aligned to their size, a power of two, so no folio from these bytes
 * reaches into the hole behind them. */
static uint64_t head_bytes(const struct weir_image_head *head)
{
	const uint64_t bits = weir__image_bits_offset(head),
	               table_end = bits - weir__image_padding(head);
	uint64_t bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	while (bytes < table_end)
		bytes *= 2;
	return bytes < bits ? bytes : bits;
}

int weir__writing_begin(struct weir_writing *w, const struct weir_filter *f, struct weir_sink *to,
                        const struct weir_save_options *options)
{
	*w = (struct weir_writing){
		.f = f,
		.options = options,
		.to = to,
		.total = f->bytes,
		.shard_bytes = f->bytes / f->shards
	};
	weir__head_of(f, options->zstd_level ? WEIR_IMAGE_ZSTD : WEIR_IMAGE_PLAIN,
	              options->generation, options->marks, &w->head);
	w->front_bytes = weir__image_bits_offset(&w->head);
	w->head_bytes = head_bytes(&w->head);
	w->front = calloc(1, w->head_bytes);
	w->copy_bytes = options->zstd_level || w->shard_bytes < WEIR__PIECE ? w->shard_bytes :
	                                                                      WEIR__PIECE;
	w->copy = malloc(w->copy_bytes);
	int err = 0;
	if (!w->front || !w->copy)
		err = weir__fail(-ENOMEM, "%s: no memory for %llu bytes to save through", to->name,
		                 (unsigned long long)(w->head_bytes + w->copy_bytes));
	if (!err && options->zstd_level)
		err = weir__packer_begin(&w->packer, w->shard_bytes, options->zstd_level,
		                         to->name);
	if (err)
		weir__writing_end(w);
	return err;
}

static void put_sum(struct weir_writing *w, uint32_t shard, uint64_t sum)
{
	weir__image_put64(w->front + WEIR_IMAGE_HEAD + 8 * (size_t)shard, sum);
}

static int write_packed(struct weir_writing *w, uint32_t shard)
{
	uint64_t n = 0;
	weir__shard_copy(w->f, shard, w->copy);
	put_sum(w, shard, weir__checksum(w->copy, w->shard_bytes));
	int err = weir__pack(&w->packer, w->copy, w->shard_bytes, &n);
	w->written += n;
	return err ? err : weir__write(w->to, w->packer.buffer, n, -1);
}

static int write_plain(struct weir_writing *w, uint32_t shard)
{
	struct weir_checksum sum;
	int err = 0;
	weir__checksum_begin(&sum);
	for (uint64_t at = 0, n; !err && at < w->shard_bytes; at += n) {
		n = w->shard_bytes - at < w->copy_bytes ? w->shard_bytes - at : w->copy_bytes;
		w->f->kind->snapshot(w->f, (shard * w->shard_bytes + at) / 64, n / 64, w->copy);
		weir__checksum_add(&sum, w->copy, n);
		err = weir__write(w->to, w->copy, n, -1);
	}
	w->written += w->shard_bytes;
	put_sum(w, shard, weir__checksum_end(&sum));
	return err;
}

/* Write the shards in order at the sink's position, and put their checksums into the table. */
static int write_shards(struct weir_writing *w)
{
	int err = 0;
	for (uint32_t shard = 0; !err && shard < w->head.shards; shard++) {
		err = w->options->zstd_level ? write_packed(w, shard) : write_plain(w, shard);
		if (!err)
			err = weir__progress(w->options->progress, w->options->progress_arg,
			                     w->before + (shard + 1) * w->shard_bytes, w->total,
			                     "bytes");
	}
	return err;
}

/* Reserve @bytes bytes of the file at offset @at, so that a full disk gives its error before the
 * write. If the file system or a sandbox refuses to reserve, the write gives the error. */
static int reserve(const struct weir_writing *w, uint64_t at, uint64_t bytes)
{
	int answer;
	if (w->options->zstd_level || w->to->fd < 0)
		return 0;
	do
		answer = fallocate(w->to->fd, 0, (off_t)at, (off_t)bytes);
	while (answer && errno == EINTR);
	if (answer == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL ||
	    errno == EPERM)
		return 0;
	return weir__fail(-errno, "%s: cannot reserve the %llu bytes of the image: %s", w->to->name,
	                  (unsigned long long)(w->front_bytes + w->f->bytes),
	                  weir_strerror(errno));
}

/* Write the image to a file. The padding stays a hole, since no later write goes there. */
static int write_file(struct weir_writing *w)
{
	int err = reserve(w, w->at, w->head_bytes);
	if (!err)
		err = reserve(w, w->at + w->front_bytes, w->f->bytes);
	if (!err)
		err = weir__write_seek(w->to, w->at + w->front_bytes);
	if (!err)
		err = write_shards(w);
	weir__head_commit(&w->head, w->front + WEIR_IMAGE_HEAD, w->front);
	return err ? err : weir__write(w->to, w->front, w->head_bytes, (int64_t)w->at);
}

void weir__write_sums(struct weir_writing *w)
{
	for (uint32_t shard = 0; shard < w->head.shards; shard++)
		put_sum(w, shard, weir__checksum((const unsigned char *)w->f->array.words +
		                                 shard * w->shard_bytes, w->shard_bytes));
	weir__head_commit(&w->head, w->front + WEIR_IMAGE_HEAD, w->front);
}

int weir__write_image(struct weir_writing *w)
{
	if (!w->to->stream)
		return write_file(w);
	weir__write_sums(w);
	int err = weir__write(w->to, w->front, w->head_bytes, -1);
	if (!err)
		err = weir__write_zeros(w->to, w->front_bytes - w->head_bytes);
	return err ? err : write_shards(w);
}

/* Writing compounds, member by member. A file gets the head last. A stream begins with the head, so
 * the members' checksums are computed first. */

enum { PAGE = 4096 };

static uint64_t bits_of(const struct weir_compound *c)
{
	uint64_t bytes = 0;
	for (unsigned i = 0; i < c->n; i++)
		bytes += c->member[i].f->bytes;
	return bytes;
}

/* Fill in the head's fields that follow from the members ([MEMBERS-AGREE]). */
static void complete_head(struct weir_compound *c, const struct weir_save_options *options,
                          uint64_t length)
{
	struct weir_image_head own = c->head;
	weir__head_of(c->member[0].f, options->zstd_level ? WEIR_IMAGE_ZSTD : WEIR_IMAGE_PLAIN,
	              options->generation, options->marks, &c->head);
	c->head.shape = own.shape;
	c->head.capacity = own.capacity;
	c->head.rate_bits = own.rate_bits;
	c->head.text = own.text;
	memcpy(c->head.own, own.own, sizeof own.own);
	c->head.shards = 1;
	c->head.nblocks = bits_of(c) / 64;
	c->head.members = c->n;
	c->head.length = length; /* not stored in a compressed image */
}

/* Write the compound's head and table. @at: as in weir__write(). */
static int write_head(struct weir_compound *c, const uint64_t commits[], struct weir_sink *to,
                      int64_t at)
{
	unsigned char page[PAGE] = { 0 }, *row = page + WEIR_IMAGE_HEAD;
	for (unsigned i = 0; i < c->n; i++, row += WEIR_IMAGE_MEMBER) {
		weir__image_put64(row, c->member[i].note);
		weir__image_put64(row + 8, commits[i]);
	}
	weir__head_commit(&c->head, page + WEIR_IMAGE_HEAD, page);
	return weir__write(to, page, sizeof page, at);
}

/* Begin to write member @i. Its head has the normalisation of the whole compound. */
static int member_begin(struct weir_writing *w, const struct weir_compound *c, unsigned i,
                        struct weir_sink *to, const struct weir_save_options *options)
{
	int err = weir__writing_begin(w, c->member[i].f, to, options);
	w->head.text = c->head.text;
	return err;
}

/* Write the members. Each starts at a multiple of the page size. @end: receives the end of the last
 * member, relative to the image's first byte. */
static int write_members(struct weir_compound *c, struct weir_sink *to,
                         const struct weir_save_options *options, uint64_t commits[], uint64_t *end)
{
	uint64_t before = 0;
	*end = PAGE;
	for (unsigned i = 0; i < c->n; i++) {
		struct weir_writing w;
		int err = to->stream ? weir__write_zeros(to, weir__to_page(*end)) : 0;
		if (!err)
			err = member_begin(&w, c, i, to, options);
		if (err)
			return err;
		w.at = *end + weir__to_page(*end);
		w.before = before;
		w.total = bits_of(c);
		err = weir__write_image(&w);
		commits[i] = w.head.commit;
		*end = w.at + weir__written(&w);
		before += c->member[i].f->bytes;
		weir__writing_end(&w);
		if (err)
			return err;
	}
	return 0;
}

/* Compute the members' commit records without writing. @end: receives the end of the last member in
 * a plain image. */
static int sum_members(struct weir_compound *c, struct weir_sink *to,
                       const struct weir_save_options *options, uint64_t commits[], uint64_t *end)
{
	*end = PAGE;
	for (unsigned i = 0; i < c->n; i++) {
		struct weir_writing w;
		int err = member_begin(&w, c, i, to, options);
		if (err)
			return err;
		weir__write_sums(&w);
		commits[i] = w.head.commit;
		*end += weir__to_page(*end) + weir__image_length(&w.head);
		weir__writing_end(&w);
	}
	return 0;
}

int weir__compound_write(struct weir_compound *c, struct weir_sink *to,
                         const struct weir_save_options *options,
                         void (*renew)(void *arg, struct weir_compound *c), void *arg)
{
	uint64_t commits[WEIR_IMAGE_MEMBERS], end;
	int err = to->stream ? sum_members(c, to, options, commits, &end) :
	                       write_members(c, to, options, commits, &end);
	if (err)
		return err;
	if (renew)
		renew(arg, c);
	complete_head(c, options, end);
	err = write_head(c, commits, to, to->stream ? -1 : 0);
	if (!err && to->stream)
		err = write_members(c, to, options, commits, &end);
	return err;
}
