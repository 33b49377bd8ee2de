/* SPDX-License-Identifier: MIT
 * Compresses and decompresses shards with zstd. */
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>
#include "image/head.h"
#include "image/zstd.h"

/* ---- compression ---- */

enum { PREFIX = 8 }; /* the bytes that store the length of a frame */

int weir__packer_begin(struct weir_packer *packer, uint64_t shard_bytes, int level,
                       const char *name)
{
	uint64_t room = PREFIX + ZSTD_compressBound(shard_bytes);
	ZSTD_CCtx *context = ZSTD_createCCtx();
	*packer = (struct weir_packer){ .context = context, .buffer = malloc(room), .room = room };
	if (!packer->context || !packer->buffer) {
		weir__packer_end(packer);
		return weir__fail(-ENOMEM, "%s: no memory for zstd with shards of %llu bytes", name,
		                  (unsigned long long)shard_bytes);
	}
	/* cannot fail: @level is 1 to 19 */
	(void)ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
	return 0;
}

void weir__packer_end(struct weir_packer *packer)
{
	ZSTD_freeCCtx(packer->context);
	free(packer->buffer);
	*packer = (struct weir_packer){ 0 };
}

int weir__pack(struct weir_packer *packer, const void *bits, uint64_t shard_bytes, uint64_t *n)
{
	size_t packed = ZSTD_compress2(packer->context, packer->buffer + PREFIX,
	                               packer->room - PREFIX, bits, shard_bytes);
	if (ZSTD_isError(packed))
		return weir__fail(-ENOMEM, "zstd cannot compress a shard: %s",
		                  ZSTD_getErrorName(packed));
	weir__image_put64(packer->buffer, packed);
	*n = PREFIX + packed;
	return 0;
}

/* Decompression. This code checks a frame's form before zstd does, since zstd accepts too much: a
 * frame with another magic would reach the decoders of formats before zstd 0.8, and a frame that
 * declares a large window would get that much memory. */

enum {
	LEAST_FRAME = 9, /* bytes of the smallest frame: 4 for the magic, 1 for the descriptor, 1
	                  * for window or size, and 3 for a block header */
	WINDOW_LOG = 23, /* log2 of 8 MiB: levels 1 to 19 need no larger window */
	BUFFER = 1 << 17
};

static const uint32_t zstd_magic = 0xFD2FB528;

int weir__unpacker_begin(struct weir_unpacker *u, const char *name)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	*u = (struct weir_unpacker){ .context = context, .buffer = malloc(BUFFER),
		                     .unit = "shard" };
	if (!u->context || !u->buffer) {
		weir__unpacker_end(u);
		return weir__fail(-ENOMEM, "%s: no memory for zstd", name);
	}
	/* cannot fail: WINDOW_LOG is a legal value */
	(void)ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, WINDOW_LOG);
	return 0;
}

void weir__unpacker_end(struct weir_unpacker *u)
{
	ZSTD_freeDCtx(u->context);
	free(u->buffer);
	*u = (struct weir_unpacker){ 0 };
}

static int refill(struct weir_unpacker *u, struct weir_source *source)
{
	u->at = 0;
	u->end = u->left < BUFFER ? u->left : BUFFER;
	u->left -= u->end;
	return weir__source_read(source, u->buffer, u->end);
}

static int check_magic(const struct weir_unpacker *u, const struct weir_source *source)
{
	uint32_t magic = (uint32_t)weir__image_get64(u->buffer);
	if (magic == zstd_magic)
		return 0;
	return weir__fail(-EBADMSG, "%s: %s %u: its frame has the magic %08x where zstd's %08x "
	                  "should be", source->name, u->unit, u->shard, magic, zstd_magic);
}

int weir__unpack_begin(struct weir_unpacker *u, struct weir_source *source, uint32_t shard,
                       uint64_t shard_bytes)
{
	unsigned char prefix[PREFIX];
	uint64_t most = ZSTD_compressBound(shard_bytes);
	int err = weir__source_read(source, prefix, sizeof prefix);
	if (err)
		return err;
	u->shard = shard;
	u->ended = false;
	u->left = weir__image_get64(prefix);
	if (u->left < LEAST_FRAME || u->left > most)
		return weir__fail(-EBADMSG, "%s: the zstd frame of %s %u is %llu bytes long; "
		                  "allowed: %d to %llu", source->name, u->unit, shard,
		                  (unsigned long long)u->left, LEAST_FRAME,
		                  (unsigned long long)most);
	err = refill(u, source);
	return err ? err : check_magic(u, source);
}

/* Report the error that zstd returned. */
static int refuse(const struct weir_unpacker *u, const struct weir_source *source, size_t error)
{
	if (ZSTD_getErrorCode(error) == ZSTD_error_frameParameter_windowTooLarge)
		return weir__fail(-EBADMSG, "%s: %s %u: to unpack its frame takes a window of "
		                  "more than %u bytes, which no level that weir writes needs",
		                  source->name, u->unit, u->shard, 1U << WINDOW_LOG);
	return weir__fail(-EBADMSG, "%s: %s %u: zstd cannot unpack its frame: %s", source->name,
	                  u->unit, u->shard, ZSTD_getErrorName(error));
}

int weir__unpack(struct weir_unpacker *u, struct weir_source *source, void *to, uint64_t room,
                 uint64_t *got)
{
	int err = u->at == u->end && u->left ? refill(u, source) : 0;
	if (err)
		return err;
	ZSTD_inBuffer in = { u->buffer, u->end, u->at };
	ZSTD_outBuffer out = { to, room, 0 };
	size_t hint = ZSTD_decompressStream(u->context, &out, &in);
	if (ZSTD_isError(hint))
		return refuse(u, source, hint);
	u->at = in.pos;
	u->ended = hint == 0;
	*got = out.pos;
	uint64_t rest = u->end - u->at + u->left;
	if (u->ended && rest)
		return weir__fail(-EBADMSG, "%s: %s %u: %llu bytes after the end of its zstd "
		                  "frame", source->name, u->unit, u->shard,
		                  (unsigned long long)rest);
	if (!u->ended && !rest && !out.pos)
		return weir__fail(-EBADMSG, "%s: %s %u: its zstd frame is cut off",
		                  source->name, u->unit, u->shard);
	return 0;
}

int weir__unpack_all(struct weir_unpacker *u, struct weir_source *source, uint32_t shard, void *to,
                     uint64_t bytes)
{
	unsigned char *p = to, more;
	uint64_t done = 0, got = 0;
	int err = weir__unpack_begin(u, source, shard, bytes);
	while (!err && done < bytes && !u->ended) {
		err = weir__unpack(u, source, p + done, bytes - done, &got);
		done += got;
	}
	for (got = 0; !err && !u->ended && !got;)
		err = weir__unpack(u, source, &more, 1, &got);
	if (!err && (done < bytes || got))
		err = weir__fail(-EBADMSG, "%s: %s %u: its zstd frame holds %s than %llu bytes",
		                 source->name, u->unit, shard, got ? "more" : "fewer",
		                 (unsigned long long)bytes);
	return err;
}
