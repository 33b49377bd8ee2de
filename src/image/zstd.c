/* SPDX-License-Identifier: MIT
 * Packing and unpacking shards with zstd. Sizes are checked before a frame is unpacked: it may be
 * no longer than a shard can become at worst, and it must be exactly one frame of the announced
 * length. Its content may be no longer than a shard. */
#include <stdlib.h>
#include <zstd.h>
#include "image/head.h"
#include "image/zstd.h"

enum { PREFIX = 8 };

int weir__packer_begin(struct weir_packer *packer, uint64_t shard_bytes, int level,
                       const char *name)
{
	uint64_t room = PREFIX + ZSTD_compressBound(shard_bytes);
	ZSTD_CCtx *pack = level ? ZSTD_createCCtx() : NULL;
	ZSTD_DCtx *unpack = level ? NULL : ZSTD_createDCtx();
	*packer = (struct weir_packer){
		.context = level ? (void *)pack : (void *)unpack,
		.buffer = malloc(room),
		.room = room
	};
	if (!packer->context || !packer->buffer) {
		weir__packer_end(packer, level);
		return weir__fail(-ENOMEM, "%s: no memory for zstd with shards of %llu bytes", name,
		                  (unsigned long long)shard_bytes);
	}
	if (level)
		/* cannot fail: 1 to 19 are always legal */
		(void)ZSTD_CCtx_setParameter(pack, ZSTD_c_compressionLevel, level);
	return 0;
}

void weir__packer_end(struct weir_packer *packer, int level)
{
	if (level)
		ZSTD_freeCCtx(packer->context);
	else
		ZSTD_freeDCtx(packer->context);
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

static int frame_read(struct weir_packer *packer, struct weir_source *source, uint32_t shard,
                      uint64_t *n)
{
	unsigned char prefix[PREFIX];
	int err = weir__source_read(source, prefix, sizeof prefix);
	if (err)
		return err;
	*n = weir__image_get64(prefix);
	if (*n == 0 || *n > packer->room - PREFIX)
		return weir__fail(-EBADMSG, "%s: the zstd frame of shard %u is %llu bytes long; "
		                  "allowed: 1 to %llu", source->name, shard,
		                  (unsigned long long)*n,
		                  (unsigned long long)(packer->room - PREFIX));
	return weir__source_read(source, packer->buffer, *n);
}

int weir__unpack(struct weir_packer *packer, struct weir_source *source, uint32_t shard, void *bits,
                 uint64_t shard_bytes)
{
	uint64_t n;
	int err = frame_read(packer, source, shard, &n);
	if (err)
		return err;
	size_t frame = ZSTD_findFrameCompressedSize(packer->buffer, n);
	if (frame != n)
		return weir__fail(-EBADMSG, "%s: shard %u: its %llu bytes are not one zstd frame: "
		                  "%s", source->name, shard, (unsigned long long)n,
		                  ZSTD_isError(frame) ? ZSTD_getErrorName(frame) :
		                                        "bytes after its end");
	size_t got = ZSTD_decompressDCtx(packer->context, bits, shard_bytes, packer->buffer, n);
	if (got != shard_bytes)
		return weir__fail(-EBADMSG,
		                  "%s: shard %u: zstd gives %s where %llu bytes should be",
		                  source->name, shard,
		                  ZSTD_isError(got) ? ZSTD_getErrorName(got) : "fewer bytes",
		                  (unsigned long long)shard_bytes);
	return 0;
}
