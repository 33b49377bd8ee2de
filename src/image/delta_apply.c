/* SPDX-License-Identifier: MIT
 * Applies deltas to plain images in memory, and checks deltas without their images: see delta.h. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ground/error.h"
#include "image/delta.h"
#include "image/load.h"
#include "image/zstd.h"

void weir__delta_xor(unsigned char *to, const unsigned char *from, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		to[i] ^= from[i];
}

struct reading {
	struct weir_source *source;
	struct weir_delta_head head;
	const struct weir_load_options *options;
	unsigned char *map, *piece;
	struct weir_unpacker unpacker;
};

static bool is_set(const unsigned char *map, uint64_t i)
{
	return map[i / 8] >> i % 8 & 1;
}

/* Check that as many bits are set in the map as the head says, and that each of them is for an
 * existing piece ([FRAMES-UNTRUSTED]). */
static int check_map(const struct reading *r)
{
	const uint64_t pieces = weir__delta_pieces(&r->head);
	uint64_t bits = 0;
	for (uint64_t i = 0; i < 8 * weir__delta_map(&r->head); i++) {
		if (is_set(r->map, i) && i >= pieces)
			return weir__fail(-EBADMSG, "%s: piece %" PRIu64 " changed, and the "
			                  "delta's new image has %" PRIu64, r->source->name, i,
			                  pieces);
		bits += is_set(r->map, i);
	}
	if (bits != r->head.changed)
		return weir__fail(-EBADMSG, "%s: the delta's map has %" PRIu64 " pieces where its "
		                  "head has %" PRIu64, r->source->name, bits, r->head.changed);
	return 0;
}

/* Check that the delta's head and the image have the same generation. */
static int check_generation(const struct reading *r, const struct weir_plain *image,
                            const struct weir_delta_end *end)
{
	if (image->generation == end->generation)
		return 0;
	return weir__fail(-EBADMSG, "%s: its head has generation %" PRIu64 " of image %016" PRIx64
	                  ", which has %" PRIu64, r->source->name, end->generation, end->commit,
	                  image->generation);
}

/* Check that the delta was made from this image ([DELTA-BASE]). */
static int check_old(const struct reading *r, const struct weir_plain *old, const char *name)
{
	const struct weir_delta_end *from = &r->head.old;
	if (old->commit == from->commit && old->bytes == from->bytes)
		return check_generation(r, old, from);
	return weir__fail(-EINVAL, "%s: is a delta from image %016" PRIx64 " (generation %" PRIu64
	                  ", %" PRIu64 " bytes), and %s is %016" PRIx64 " (generation %" PRIu64
	                  ", %" PRIu64 " bytes): apply it to the image that it was made from",
	                  r->source->name, from->commit, from->generation, from->bytes, name,
	                  old->commit, old->generation, old->bytes);
}

/* An upper bound for the bytes of an image without its bits: heads, tables, paddings. */
static const uint64_t most_beside = UINT64_C(64) << 20;

static int check_room(const struct reading *r)
{
	const uint64_t most = r->options->max_bytes;
	if (!most || r->head.new.bytes <= most || r->head.new.bytes - most <= most_beside)
		return 0;
	return weir__fail(-EFBIG, "%s: makes an image of %" PRIu64 " bytes: more than max_bytes "
	                  "%" PRIu64, r->source->name, r->head.new.bytes, most);
}

static int read_map(struct reading *r)
{
	const uint64_t bytes = weir__delta_map(&r->head);
	if (bytes > r->head.length - WEIR_DELTA_HEAD)
		return weir__fail(-EBADMSG, "%s: ends in the delta's map of %" PRIu64 " bytes",
		                  r->source->name, bytes);
	if (r->options->max_bytes && bytes > r->options->max_bytes)
		return weir__fail(-EFBIG, "%s: the delta's map has %" PRIu64 " bytes: more than "
		                  "the %" PRIu64 " allowed", r->source->name, bytes,
		                  r->options->max_bytes);
	r->map = malloc(bytes);
	r->piece = malloc(WEIR_DELTA_PIECE);
	if (!r->map || !r->piece)
		return weir__fail(-ENOMEM, "%s: no memory for a piece of a delta", r->source->name);
	int err = weir__source_read(r->source, r->map, bytes);
	return err ? err : check_map(r);
}

/* Decompress piece @i if it changed, and apply it to @plain. @plain: the image to change, or NULL
 * to only decompress. */
static int apply_piece(struct reading *r, struct weir_plain *plain, uint64_t i)
{
	const uint64_t n = weir__delta_piece(r->head.new.bytes, i);
	int err = is_set(r->map, i) ?
	          weir__unpack_all(&r->unpacker, r->source, (uint32_t)i, r->piece, n) : 0;
	if (!err && plain && is_set(r->map, i))
		weir__delta_xor(weir__plain_bytes(plain) + i * WEIR_DELTA_PIECE, r->piece, n);
	return err ? err : weir__progress(r->options->progress, r->options->progress_arg,
	                                  i * WEIR_DELTA_PIECE + n, r->head.new.bytes, "bytes");
}

static int apply_pieces(struct reading *r, struct weir_plain *plain)
{
	int err = weir__unpacker_begin(&r->unpacker, r->source->name);
	if (err)
		return err;
	r->unpacker.unit = "piece";
	for (uint64_t i = 0; !err && i < weir__delta_pieces(&r->head); i++)
		err = apply_piece(r, plain, i);
	weir__unpacker_end(&r->unpacker);
	return err ? err : weir__source_end(r->source);
}

/* Check that the result is the new image ([DELTA-BASE]). */
static int check_new(const struct reading *r, struct weir_plain *plain)
{
	char name[64];
	snprintf(name, sizeof name, "what it makes");
	int err = weir__plain_check(plain, name, r->options);
	if (err == -EBUSY) /* a live image, which weir_delta_save() refuses as the new image */
		err = -EBADMSG;
	if (err == -EBADMSG || err == -ENOTSUP || err == -EFBIG)
		return weir__fail(err, "%s: %s", r->source->name, weir_error_detail());
	if (!err && plain->commit != r->head.new.commit)
		err = weir__fail(-EBADMSG, "%s: makes image %016" PRIx64 " where its head has %016"
		                 PRIx64, r->source->name, plain->commit, r->head.new.commit);
	return err ? err : check_generation(r, plain, &r->head.new);
}

static int apply(struct reading *r, struct weir_plain *plain, const char *name)
{
	int err = weir__delta_read(&r->head, r->source);
	if (!err)
		err = check_old(r, plain, name);
	if (!err)
		err = check_room(r);
	if (!err)
		err = read_map(r);
	if (!err)
		err = weir__plain_resize(plain, r->head.new.bytes, r->source->name);
	if (!err)
		err = apply_pieces(r, plain);
	if (!err)
		err = check_new(r, plain);
	free(r->map);
	free(r->piece);
	return err;
}

int weir__delta_apply(struct weir_plain *plain, const char *name, const char *path,
                      const struct weir_load_options *options)
{
	struct weir_source source;
	struct reading r = { .source = &source, .options = options };
	int err = weir__source_open(&source, path, O_RDONLY);
	if (err)
		return err;
	err = apply(&r, plain, name);
	weir__source_close(&source);
	return err;
}

int weir__delta_verify(struct weir_source *source, const struct weir_load_options *options)
{
	struct reading r = { .source = source, .options = options };
	int err = weir__delta_read(&r.head, source);
	if (!err)
		err = read_map(&r);
	if (!err)
		err = apply_pieces(&r, NULL);
	free(r.map);
	free(r.piece);
	return err;
}
