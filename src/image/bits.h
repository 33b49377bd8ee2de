/* SPDX-License-Identifier: MIT
 * The bits of an image, read and checked in pieces: what is read through, and how often progress is
 * called, does not depend on what the image declares. */
#ifndef WEIR_SRC_IMAGE_BITS_H
#define WEIR_SRC_IMAGE_BITS_H

#include "image/preface.h"

/* Read all shards and check each against the table. If the image must fill its source, check that
 * no byte follows.
 * @bits: room for all of them; NULL: only check.
 * @options: progress is called after each piece, 1 MiB at most, and after each shard. */
int weir__bits_read(struct weir_source *source, const struct weir_preface *preface,
                    const struct weir_load_options *options, unsigned char *bits);

/* Read all bits, each checked, into a filter with memory of its own. */
int weir__bits_load(struct weir_filter **out, struct weir_source *source,
                    const struct weir_preface *preface, const struct weir_load_options *options);

/* As the kind's check(), of a filter whose array is complete. @name: the image's, for the
 * sentence. */
int weir__bits_check(const struct weir_filter *f, const char *name);

#endif
