/* SPDX-License-Identifier: MIT
 * Reads an image: the bits, and the parts of loading that mapping uses too. */
#ifndef WEIR_SRC_IMAGE_LOAD_H
#define WEIR_SRC_IMAGE_LOAD_H

#include <fcntl.h>
#include "image/preface.h"

/* Bits are read and checked in pieces. The size of a piece, and how often progress is called, do
 * not depend on sizes that the image declares. */

/* Read all shards and check each against the table. If source->exact, check that no bytes follow.
 * @bits: a buffer for the bits of all shards; NULL: only check.
 * @options: progress is called after each piece of at most 1 MiB, and after each shard. */
int weir__bits_read(struct weir_source *source, const struct weir_preface *preface,
                    const struct weir_load_options *options, unsigned char *bits);

/* Read and check all bits, and make a filter that owns its memory. */
int weir__bits_load(struct weir_filter **out, struct weir_source *source,
                    const struct weir_preface *preface, const struct weir_load_options *options);

/* Call the kind's check() on a complete filter. @name: the image's name, for errors. */
int weir__bits_check(const struct weir_filter *f, const char *name);

/* ---- the parts of loading that mapping uses ---- */

/* Copy the caller's options over the defaults, and check them. Return: 0 or -EINVAL. */
int weir__load_options(struct weir_load_options *out, const struct weir_load_options *options);

/* Finish a filter made from an image: check that it has the abilities in options.can, set its
 * marks, and disable the functions that hash keys if the secret key is missing. On failure the
 * filter is destroyed. */
int weir__preface_settle(struct weir_filter **out, struct weir_filter *f,
                         const struct weir_preface *preface,
                         const struct weir_load_options *options, const char *name);

/* Read and check everything after a preface, and make a filter that owns its memory. */
int weir__preface_load(struct weir_filter **out, struct weir_source *source,
                       const struct weir_preface *preface,
                       const struct weir_load_options *options);

/* Read and check the whole image in an open source, and make a filter that owns its memory.
 * @options: after weir__load_options(). */
int weir__source_load(struct weir_filter **out, struct weir_source *source,
                      const struct weir_load_options *options);

#endif
