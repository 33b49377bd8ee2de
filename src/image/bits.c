/* SPDX-License-Identifier: MIT
 * Reads the bits of an image. A hostile image may declare many more bits than it stores on the
 * disk, by a sparse file or by compression. So memory for the bits is touched only when the bits
 * arrive, and the caller's progress function may stop the read after any piece. */
#include <stdlib.h>
#include "ground/error.h"
#include "hash/hash.h"
#include "image/load.h"
#include "image/zstd.h"

struct reading {
	struct weir_source *source;
	const struct weir_preface *preface;
	const struct weir_load_options *options;
	struct weir_unpacker unpacker; /* for a compressed image */
	bool packed;
	unsigned char *scratch;        /* a buffer for a piece; NULL if the caller keeps the bits */
	uint64_t done;                 /* bytes of bits read so far */
};

static uint64_t at_most(uint64_t n, uint64_t most)
{
	return n < most ? n : most;
}

static int report(const struct reading *r)
{
	return weir__progress(r->options->progress, r->options->progress_arg, r->done,
	                      64 * r->preface->head.nblocks, "bytes");
}

/* Read at most @room bytes, and at most one piece. @got: receives the number of bytes read, which
 * may be 0. */
static int step(struct reading *r, unsigned char *to, uint64_t room, uint64_t *got)
{
	*got = at_most(room, WEIR__PIECE);
	return r->packed ? weir__unpack(&r->unpacker, r->source, to, *got, got) :
	                   weir__source_read(r->source, to, *got);
}

static int too_short(const struct reading *r, uint64_t got)
{
	return weir__fail(-EBADMSG, "%s: shard %u: its zstd frame holds %llu bytes where %llu "
	                  "should be", r->source->name, r->unpacker.shard, (unsigned long long)got,
	                  (unsigned long long)r->preface->shard_bytes);
}

/* Check that the frame ends after the bits of the shard. Call the progress function in every step,
 * even if the step unpacks nothing, since a hostile frame may have many such steps. */
static int finish_frame(struct reading *r)
{
	unsigned char more;
	uint64_t got = 0;
	int err = 0;
	while (!err && !r->unpacker.ended) {
		err = step(r, &more, 1, &got);
		if (!err && got)
			err = weir__fail(-EBADMSG, "%s: shard %u: its zstd frame holds more than "
			                 "%llu bytes", r->source->name, r->unpacker.shard,
			                 (unsigned long long)r->preface->shard_bytes);
		if (!err)
			err = report(r);
	}
	return err;
}

static int read_shard(struct reading *r, uint32_t shard, unsigned char *bits)
{
	struct weir_checksum sum;
	uint64_t bytes = r->preface->shard_bytes, got;
	int err = r->packed ?
	          weir__unpack_begin(&r->unpacker, r->source, shard, bytes) : 0;
	weir__checksum_begin(&sum);
	for (uint64_t at = 0; !err && at < bytes; at += got) {
		unsigned char *to = bits ? bits + at : r->scratch;
		err = r->packed && r->unpacker.ended ? too_short(r, at) :
		                                       step(r, to, bytes - at, &got);
		if (err)
			return err;
		weir__checksum_add(&sum, to, got);
		/* the last piece counts only after the checksum of the shard is verified */
		if (at + got < bytes) {
			r->done += got;
			err = report(r);
		}
	}
	if (!err && r->packed)
		err = finish_frame(r);
	if (!err)
		err = weir__preface_check_sum(r->preface, shard, weir__checksum_end(&sum),
		                              r->source->name);
	if (err)
		return err;
	r->done = (shard + 1) * bytes;
	return report(r);
}

static int begin(struct reading *r, bool keep)
{
	uint64_t piece = at_most(r->preface->shard_bytes, WEIR__PIECE);
	r->scratch = keep ? NULL : malloc(piece);
	if (!keep && !r->scratch)
		return weir__fail(-ENOMEM, "%s: no memory for %llu bytes to verify through",
		                  r->source->name, (unsigned long long)piece);
	return r->packed ? weir__unpacker_begin(&r->unpacker, r->source->name) : 0;
}

int weir__bits_read(struct weir_source *source, const struct weir_preface *preface,
                    const struct weir_load_options *options, unsigned char *bits)
{
	struct reading r = {
		.source = source,
		.preface = preface,
		.options = options,
		.packed = preface->head.compression == WEIR_IMAGE_ZSTD
	};
	int err = begin(&r, bits != NULL);
	for (uint32_t shard = 0; !err && shard < preface->head.shards; shard++)
		err = read_shard(&r, shard, bits ? bits + shard * preface->shard_bytes : NULL);
	if (r.packed)
		weir__unpacker_end(&r.unpacker);
	free(r.scratch);
	if (!err && source->exact)
		err = weir__source_end(source);
	return err;
}

int weir__bits_check(const struct weir_filter *f, const char *name)
{
	int err = f->kind->check ? f->kind->check(f) : 0;
	return err ? weir__fail(err, "%s: %s", name, weir_error_detail()) : 0;
}

int weir__bits_load(struct weir_filter **out, struct weir_source *source,
                    const struct weir_preface *preface, const struct weir_load_options *options)
{
	struct weir_layout layout;
	struct weir_memory memory;
	struct weir_filter *f;
	int err = weir__preface_layout(&layout, preface, options->secret, source->name);
	layout.flags |= options->flags & WEIR_ONCE;
	/* Do not prefault: pages are touched only when their bits arrive. */
	if (!err)
		err = weir__memory_alloc(&memory, 64 * layout.lines,
		                         options->flags & ~WEIR_PREFAULT, options->memory,
		                         options->memory_bytes);
	if (err)
		return err;
	err = weir__bits_read(source, preface, options, (unsigned char *)memory.bits);
	if (!err)
		err = weir__filter_make(&f, &layout, &memory, 0);
	if (err) {
		weir__memory_free(&memory);
		return err;
	}
	f->marks = preface->head.marks;
	err = weir__bits_check(f, source->name);
	if (err)
		weir_destroy(f);
	else
		*out = f;
	return err;
}
