/* SPDX-License-Identifier: MIT
 * Reading an image: the parts of loading that mapping uses, and the bits. */
#ifndef WEIR_SRC_IMAGE_LOAD_H
#define WEIR_SRC_IMAGE_LOAD_H

#include <fcntl.h>
#include "image/preface.h"

/* The bits of an image, read and checked in pieces: what is read through, and how often progress is
 * called, does not depend on what the image declares. */

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

/* ---- the parts of loading that mapping uses ---- */

/* Copy the caller's options over the defaults, and check them. Return: 0 or -EINVAL. */
int weir__load_options(struct weir_load_options *out, const struct weir_load_options *options);

/* The filter of an image is there: see that it can do what options.can asks for, make it keyless if
 * it has no key, note its marks. If that fails it is destroyed. */
int weir__preface_settle(struct weir_filter **out, struct weir_filter *f,
                         const struct weir_preface *preface,
                         const struct weir_load_options *options, const char *name);

/* Read all that is behind a preface, be it that of an array or of a compound, each bit checked,
 * into a filter with memory of its own. */
int weir__preface_load(struct weir_filter **out, struct weir_source *source,
                       const struct weir_preface *preface,
                       const struct weir_load_options *options);

/* Read and check all of an opened image into a filter with memory of its own. @options: checked. */
int weir__source_load(struct weir_filter **out, struct weir_source *source,
                      const struct weir_load_options *options);

#endif
