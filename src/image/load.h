/* SPDX-License-Identifier: MIT
 * The parts of loading that mapping uses. Mapping verifies an image by reading the file, so that a
 * file which shrinks meanwhile is an error, not a SIGBUS. */
#ifndef WEIR_SRC_IMAGE_LOAD_H
#define WEIR_SRC_IMAGE_LOAD_H

#include <fcntl.h>
#include "image/preface.h"

/* Copy the caller's options over the defaults, and check them. Return: 0 or -EINVAL. */
int weir__load_options(struct weir_load_options *out, const struct weir_load_options *options);

/* Read all shards and check each against the table. If the image must fill its source, check that
 * no byte follows. Shard i goes to bits + i * stride. With stride 0 all go to the room of one
 * shard: the call only checks. */
int weir__bits_read(struct weir_source *source, const struct weir_preface *preface,
                    const struct weir_load_options *options, unsigned char *bits, uint64_t stride);

#endif
