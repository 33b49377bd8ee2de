/* SPDX-License-Identifier: MIT
 * Compresses and decompresses shards. A compressed shard is 8 bytes with the length of its zstd
 * frame, then the frame. The length comes first, so that a stream can be read without seeking. */
#ifndef WEIR_SRC_IMAGE_ZSTD_H
#define WEIR_SRC_IMAGE_ZSTD_H

#include "config.h"
#include "ground/error.h"
#include "image/io.h"

/* ---- compression ---- */

/* Compresses shards of one size. All fields are zero before weir__packer_begin(). */
struct weir_packer {
	void *context;         /* a ZSTD_CCtx */
	unsigned char *buffer; /* a frame and its length */
	uint64_t room;         /* bytes of buffer */
};

#if WEIR_HAVE_ZSTD

/* Allocate the context and the buffer.
 * @level: 1 to 19.  @name: the image's name, for error messages. */
int weir__packer_begin(struct weir_packer *packer, uint64_t shard_bytes, int level,
                       const char *name);
void weir__packer_end(struct weir_packer *packer);
/* Compress a shard into the buffer. @n: receives the number of bytes to write. Return: 0 or
 * -ENOMEM. */
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

/* ---- decompression in steps, in bounded memory whatever the image declares ---- */

/* Decompresses frames from a source. All fields are zero before weir__unpacker_begin(). */
struct weir_unpacker {
	void *context;         /* a ZSTD_DCtx */
	unsigned char *buffer; /* a part of a frame */
	uint64_t at, end;      /* bytes at .. end-1 of buffer are not yet decompressed */
	uint64_t left;         /* bytes of the frame that are not yet in buffer */
	const char *unit;      /* what a frame holds, for error messages: "shard" or "piece" */
	uint32_t shard;        /* the number of the current shard or piece */
	bool ended;            /* the end of the frame was reached */
};

#if WEIR_HAVE_ZSTD

/* @name: the image's name, for error messages. */
int weir__unpacker_begin(struct weir_unpacker *u, const char *name);
void weir__unpacker_end(struct weir_unpacker *u);
/* Start the frame of a shard. */
int weir__unpack_begin(struct weir_unpacker *u, struct weir_source *source, uint32_t shard,
                       uint64_t shard_bytes);
/* Do one step of decompression: read a part of the frame, decompress up to @room bytes, or both.
 * Call it until u->ended. @got: receives the number of bytes decompressed, which may be 0. */
int weir__unpack(struct weir_unpacker *u, struct weir_source *source, void *to, uint64_t room,
                 uint64_t *got);
/* Decompress a whole frame, which must hold exactly @bytes bytes. */
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
