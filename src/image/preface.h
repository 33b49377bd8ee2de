/* SPDX-License-Identifier: MIT
 * What comes before the bits: the checked head, the kind it names, the table of checksums. */
#ifndef WEIR_SRC_IMAGE_PREFACE_H
#define WEIR_SRC_IMAGE_PREFACE_H

#include "filter.h"
#include "image/head.h"
#include "image/io.h"

/* A checked image up to its bits. */
struct weir_preface {
	struct weir_image_head head;
	const struct weir_kind *kind;
	unsigned char *table; /* the shards' checksums, malloc'ed; as in the image */
	uint64_t shard_bytes;
};

/* Read and check everything before the bits. @max_bytes: of bits, 0 for any. -EBUSY a live image
 * unless @live_too. */
int weir__preface_read(struct weir_preface *out, struct weir_source *source, uint64_t max_bytes,
                       bool live_too);
void weir__preface_free(struct weir_preface *preface);
/* Compare the checksum of a shard's bits with the table. */
int weir__preface_check(const struct weir_preface *preface, uint32_t shard, const void *bits,
                        const char *name);

/* The layout and the head of a filter, each from the other. */
struct weir_layout weir__preface_layout(const struct weir_preface *preface);
void weir__head_of(const struct weir_filter *f, uint32_t compression, uint64_t generation,
                   struct weir_image_head *out);
/* The head's bytes with their checksums, for a table that is ready. */
void weir__head_commit(struct weir_image_head *head, const unsigned char *table,
                       unsigned char *bytes);

/* A shard's bits as the image holds them, while others may insert. */
void weir__shard_copy(const struct weir_filter *f, uint32_t shard, uint64_t *out);

#endif
