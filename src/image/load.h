/* SPDX-License-Identifier: MIT
 * Reads an image: the bits, and the parts of loading that mapping uses too. */
#ifndef WEIR_SRC_IMAGE_LOAD_H
#define WEIR_SRC_IMAGE_LOAD_H

#include <fcntl.h>
#include "image/preface.h"

/* The bits of an image are read and checked in pieces. The size of a piece, and how often progress
 * is called, do not depend on sizes that the image declares. */

/* Read all shards and check each against the table. If the image must fill its source, check that
 * no bytes follow.
 * @bits: room for all of them; NULL: only check.
 * @options: progress is called after each piece of at most 1 MiB, and after each shard. */
int weir__bits_read(struct weir_source *source, const struct weir_preface *preface,
                    const struct weir_load_options *options, unsigned char *bits);

/* Read all bits and check them, into a filter with memory of its own. */
int weir__bits_load(struct weir_filter **out, struct weir_source *source,
                    const struct weir_preface *preface, const struct weir_load_options *options);

/* The kind's check(), for a filter whose array is complete. @name: the image's, for the
 * sentence. */
int weir__bits_check(const struct weir_filter *f, const char *name);

/* ---- the parts of loading that mapping uses ---- */

/* Copy the caller's options over the defaults, and check them. Return: 0 or -EINVAL. */
int weir__load_options(struct weir_load_options *out, const struct weir_load_options *options);

/* Finish a filter made from an image: check that it can do what options.can asks for, make it
 * keyless if the secret key is missing, and set its marks. On failure the filter is destroyed. */
int weir__preface_settle(struct weir_filter **out, struct weir_filter *f,
                         const struct weir_preface *preface,
                         const struct weir_load_options *options, const char *name);

/* Read everything after a preface, of an array or a compound, check each bit, and make a filter
 * with memory of its own. */
int weir__preface_load(struct weir_filter **out, struct weir_source *source,
                       const struct weir_preface *preface,
                       const struct weir_load_options *options);

/* Read and check a whole opened image into a filter with memory of its own. @options: checked. */
int weir__source_load(struct weir_filter **out, struct weir_source *source,
                      const struct weir_load_options *options);

#endif
