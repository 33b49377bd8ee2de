/* SPDX-License-Identifier: MIT
 * Packing shards with zstd. */
#include <stdlib.h>
#include <zstd.h>
#include "image/head.h"
#include "image/zstd.h"

enum { PREFIX = 8 };

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
	/* cannot fail: 1 to 19 are always legal */
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
