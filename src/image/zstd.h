/* SPDX-License-Identifier: MIT
 * Compressed images. Each shard is 8 bytes with the length of its zstd frame, then the frame. The
 * length comes first, so that a stream can be read without seeking. */
#ifndef WEIR_SRC_IMAGE_ZSTD_H
#define WEIR_SRC_IMAGE_ZSTD_H

#include "config.h"
#include "error.h"
#include "image/io.h"

/* Packs or unpacks shards of one size. All zero: none. */
struct weir_packer {
	void *context;         /* zstd's */
	unsigned char *buffer; /* for a frame and its length */
	uint64_t room;         /* bytes of buffer */
};

#if WEIR_HAVE_ZSTD

/* @level: 1 to 19 to pack; 0 to unpack.  @name: of the image, for the sentence. */
int weir__packer_begin(struct weir_packer *packer, uint64_t shard_bytes, int level,
                       const char *name);
void weir__packer_end(struct weir_packer *packer, int level);
/* Pack a shard into the buffer. @n: receives the number of bytes to write. Return: 0 or -ENOMEM. */
int weir__pack(struct weir_packer *packer, const void *bits, uint64_t shard_bytes, uint64_t *n);
/* Read the next frame and unpack it: exactly @shard_bytes bytes. */
int weir__unpack(struct weir_packer *packer, struct weir_source *source, uint32_t shard, void *bits,
                 uint64_t shard_bytes);

#else

static inline int weir__packer_begin(struct weir_packer *packer, uint64_t shard_bytes, int level,
                                     const char *name)
{
	(void)packer, (void)shard_bytes;
	if (level)
		return weir__fail(-ENOTSUP, "%s: zstd_level %d: this build of weir has no zstd, "
		                  "0 alone is allowed", name, level);
	return weir__fail(-ENOTSUP, "%s: is compressed with zstd, which this build of weir has not",
	                  name);
}

static inline void weir__packer_end(struct weir_packer *packer, int level)
{
	(void)packer, (void)level;
}

static inline int weir__pack(struct weir_packer *packer, const void *bits, uint64_t shard_bytes,
                             uint64_t *n)
{
	(void)packer, (void)bits, (void)shard_bytes, (void)n;
	return -ENOTSUP;
}

static inline int weir__unpack(struct weir_packer *packer, struct weir_source *source,
                               uint32_t shard, void *bits, uint64_t shard_bytes)
{
	(void)packer, (void)source, (void)shard, (void)bits, (void)shard_bytes;
	return -ENOTSUP;
}

#endif

#endif
