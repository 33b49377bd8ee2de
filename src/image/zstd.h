/* SPDX-License-Identifier: MIT
 * Packing and unpacking shards for compressed images. Each shard is 8 bytes with the length of its
 * zstd frame, then the frame. The length comes first, so that a stream can be read without
 * seeking. */
#ifndef WEIR_SRC_IMAGE_ZSTD_H
#define WEIR_SRC_IMAGE_ZSTD_H

#include "config.h"
#include "ground/error.h"
#include "image/io.h"

/* ---- packing ---- */

/* Packs shards of one size. All zero: not begun. */
struct weir_packer {
	void *context;         /* zstd's */
	unsigned char *buffer; /* for a frame and its length */
	uint64_t room;         /* bytes of buffer */
};

#if WEIR_HAVE_ZSTD

/* @level: 1 to 19.  @name: the image's, for the sentence. */
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

/* ---- unpacking step by step, through memory that stays bounded whatever the image declares
 *      ---- */

/* All zero: not begun. */
struct weir_unpacker {
	void *context;         /* zstd's */
	unsigned char *buffer; /* for a part of a frame */
	uint64_t at, end;      /* the bytes in buffer that are not yet unpacked */
	uint64_t left;         /* bytes of the frame that are not yet in buffer */
	const char *unit;      /* the name of a unit with a frame, for sentences: "shard" */
	uint32_t shard;        /* the number of the unit */
	bool ended;            /* the frame has ended */
};

#if WEIR_HAVE_ZSTD

/* @name: the image's, for the sentence. */
int weir__unpacker_begin(struct weir_unpacker *u, const char *name);
void weir__unpacker_end(struct weir_unpacker *u);
/* Begin the frame of a shard. */
int weir__unpack_begin(struct weir_unpacker *u, struct weir_source *source, uint32_t shard,
                       uint64_t shard_bytes);
/* One step of unpacking; call it until ended. It reads a part of the frame, unpacks up to @room
 * bytes, or both. @got: receives the number of bytes unpacked, which may be 0. */
int weir__unpack(struct weir_unpacker *u, struct weir_source *source, void *to, uint64_t room,
                 uint64_t *got);
/* Unpack a whole frame, which must hold exactly @bytes bytes. */
int weir__unpack_all(struct weir_unpacker *u, struct weir_source *source, uint32_t shard, void *to,
                     uint64_t bytes);

#else

static inline int weir__unpacker_begin(struct weir_unpacker *u, const char *name)
{
	(void)u;
	return weir__fail(-ENOTSUP, "%s: is compressed with zstd, which this build of weir has not",
	                  name);
}

static inline void weir__unpacker_end(struct weir_unpacker *u)
{
	(void)u;
}

static inline int weir__unpack_begin(struct weir_unpacker *u, struct weir_source *source,
                                     uint32_t shard, uint64_t shard_bytes)
{
	(void)u, (void)source, (void)shard, (void)shard_bytes;
	return -ENOTSUP;
}

static inline int weir__unpack(struct weir_unpacker *u, struct weir_source *source, void *to,
                               uint64_t room, uint64_t *got)
{
	(void)u, (void)source, (void)to, (void)room, (void)got;
	return -ENOTSUP;
}

static inline int weir__unpack_all(struct weir_unpacker *u, struct weir_source *source,
                                   uint32_t shard, void *to, uint64_t bytes)
{
	(void)u, (void)source, (void)shard, (void)to, (void)bytes;
	return -ENOTSUP;
}

#endif

#endif
