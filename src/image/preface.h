/* SPDX-License-Identifier: MIT
 * The preface of an image is everything before the bits: the head and the table of checksums. */
#ifndef WEIR_SRC_IMAGE_PREFACE_H
#define WEIR_SRC_IMAGE_PREFACE_H

#include "filter/filter.h"
#include "image/head.h"
#include "image/io.h"

/* A preface that was read and checked. */
struct weir_preface {
	struct weir_image_head head;
	const struct weir_kind *kind;
	unsigned char *table; /* the bytes of the table, from malloc */
	uint64_t shard_bytes; /* bytes of bits in a shard */
};

/* Read and check everything before the bits.
 * @max_bytes: the most bytes of bits; 0: no limit.
 * @live_too: true: accept a live image; false: fail with -EBUSY for a live image. */
int weir__preface_read(struct weir_preface *out, struct weir_source *source, uint64_t max_bytes,
                       bool live_too);
void weir__preface_free(struct weir_preface *preface);
/* Compare the checksum of a shard's bits with the table. @sum: the checksum of the bits;
 * weir__preface_check() computes it from @bits. */
int weir__preface_check_sum(const struct weir_preface *preface, uint32_t shard, uint64_t sum,
                            const char *name);
int weir__preface_check(const struct weir_preface *preface, uint32_t shard, const void *bits,
                        const char *name);

/* Given as the secret key, this array opens a keyed image without its key, for callers that only
 * read the bits. Lookups and inserts of keys would hash them wrongly. So the filter must not leave
 * image/ unless weir__filter_keyless() has disabled these functions. */
extern const unsigned char weir__no_secret[];

/* Check that filter @f has the abilities @can. If @f is NULL, check that a filter of the image's
 * kind and marks may have them. Return: 0 or -ENOTSUP. */
int weir__preface_can(const struct weir_preface *p, const struct weir_filter *f, uint32_t can,
                      const char *name);
/* Return: the bits of enum weir_flags that the image stores. */
static inline uint32_t weir__preface_flags(const struct weir_preface *p)
{
	return p->head.marks & WEIR_MARK_ONCE ? WEIR_ONCE : 0;
}
/* Fill a layout from a head. @secret: the caller's secret key, or NULL.
 * Return: 0; -EKEYREJECTED the key is wrong, missing or superfluous. */
int weir__preface_layout(struct weir_layout *out, const struct weir_preface *preface,
                         const void *secret, const char *name);
/* Fill the head for a filter, without its checksums. */
void weir__head_of(const struct weir_filter *f, uint32_t compression, uint64_t generation,
                   uint32_t marks, struct weir_image_head *out);
/* Write the head with its checksums to @bytes. The table must be complete. */
void weir__head_commit(struct weir_image_head *head, const unsigned char *table,
                       unsigned char *bytes);

/* Copy a shard's bits as the image stores them, while other threads may insert. */
void weir__shard_copy(const struct weir_filter *f, uint32_t shard, uint64_t *out);

#endif
