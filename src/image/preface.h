/* SPDX-License-Identifier: MIT
 * The part of an image before its bits: the head, its kind and the table of checksums. */
#ifndef WEIR_SRC_IMAGE_PREFACE_H
#define WEIR_SRC_IMAGE_PREFACE_H

#include "filter/filter.h"
#include "image/head.h"
#include "image/io.h"

/* The checked preface. */
struct weir_preface {
	struct weir_image_head head;
	const struct weir_kind *kind;
	unsigned char *table; /* the bytes of the table, malloc'ed */
	uint64_t shard_bytes; /* of bits, in a shard */
};

/* Read and check everything before the bits.
 * @max_bytes: of bits; 0: no limit.  @live_too: accept a live image, which is -EBUSY otherwise. */
int weir__preface_read(struct weir_preface *out, struct weir_source *source, uint64_t max_bytes,
                       bool live_too);
void weir__preface_free(struct weir_preface *preface);
/* Compare the checksum of a shard's bits with the table: @sum, or the checksum of @bits. */
int weir__preface_check_sum(const struct weir_preface *preface, uint32_t shard, uint64_t sum,
                            const char *name);
int weir__preface_check(const struct weir_preface *preface, uint32_t shard, const void *bits,
                        const char *name);

/* For a caller that only reads the bits: opens a keyed image without its secret key. The key verbs
 * of such a filter are wrong, so it must not leave image/ unless weir__filter_keyless() disables
 * them. */
extern const unsigned char weir__no_secret[];

/* Does a filter of the image, or if @f is NULL any of its kind, have the abilities @can
 * (options.can)?
 * Return: 0 or -ENOTSUP. */
int weir__preface_can(const struct weir_preface *p, const struct weir_filter *f, uint32_t can,
                      const char *name);
/* The bits of enum weir_flags that an image keeps. */
static inline uint32_t weir__preface_flags(const struct weir_preface *p)
{
	return p->head.marks & WEIR_MARK_ONCE ? WEIR_ONCE : 0;
}
/* The layout from a head. @secret: the caller's, or NULL.
 * Return: 0; -EKEYREJECTED it is not the image's key. */
int weir__preface_layout(struct weir_layout *out, const struct weir_preface *preface,
                         const void *secret, const char *name);
/* The head of a filter, without its checksums. */
void weir__head_of(const struct weir_filter *f, uint32_t compression, uint64_t generation,
                   uint32_t marks, struct weir_image_head *out);
/* Write the head with its checksums into @bytes. The table must be complete. */
void weir__head_commit(struct weir_image_head *head, const unsigned char *table,
                       unsigned char *bytes);

/* Copy the bits of a shard as the image stores them, while other threads may insert. */
void weir__shard_copy(const struct weir_filter *f, uint32_t shard, uint64_t *out);

#endif
