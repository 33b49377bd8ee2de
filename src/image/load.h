/* SPDX-License-Identifier: MIT
 * What loading shares with mapping, which verifies by reading: a file that shrinks meanwhile is
 * an error, not a SIGBUS. */
#ifndef WEIR_SRC_IMAGE_LOAD_H
#define WEIR_SRC_IMAGE_LOAD_H

#include <fcntl.h>
#include "image/preface.h"

/* The caller's options over the defaults, checked. */
int weir__load_options(struct weir_load_options *out, const struct weir_load_options *options);

/* Read all shards, check each against the table and, where the image must fill its source, that
 * nothing follows. Shard i goes to bits + i * stride; with stride 0 they follow each other
 * through one shard's room and only the check remains. */
int weir__bits_read(struct weir_source *source, const struct weir_preface *preface,
                    const struct weir_load_options *options, unsigned char *bits, uint64_t stride);

#endif
