/* SPDX-License-Identifier: MIT
 * Packing shards for compressed images. Each shard is 8 bytes with the length of its zstd frame,
 * then the frame. The length comes first, so that a stream can be read without seeking. */
#ifndef WEIR_SRC_IMAGE_ZSTD_H
#define WEIR_SRC_IMAGE_ZSTD_H

#include "config.h"
#include "ground/error.h"
#include "image/io.h"

/* Packs shards of one size. All zero: none. */
struct weir_packer {
	void *context;         /* zstd's */
	unsigned char *buffer; /* for a frame and its length */
	uint64_t room;         /* bytes of buffer */
};

#if WEIR_HAVE_ZSTD

/* @level: 1 to 19.  @name: of the image, for the sentence. */
int weir__packer_begin(struct weir_packer *packer, uint64_t shard_bytes, int level,
                       const char *name);
void weir__packer_end(struct weir_packer *packer);
/* Pack a shard into the buffer. @n: receives the number of bytes to write. Return: 0 or -ENOMEM. */
int weir__pack(struct weir_packer *packer, const void *bits, uint64_t shard_bytes, uint64_t *n);

#else

static inline int weir__packer_begin(struct weir_packer *packer, uint64_t shard_bytes, int level,
                                     const char *name)
{
	(void)packer, (void)shard_bytes;
	return weir__fail(-ENOTSUP, "%s: zstd_level %d: this build of weir has no zstd, "
	                  "0 alone is allowed", name, level);
}

static inline void weir__packer_end(struct weir_packer *packer)
{
	(void)packer;
}

static inline int weir__pack(struct weir_packer *packer, const void *bits, uint64_t shard_bytes,
                             uint64_t *n)
{
	(void)packer, (void)bits, (void)shard_bytes, (void)n;
	return -ENOTSUP;
}

#endif

#endif
