/* SPDX-License-Identifier: MIT
 * What the verbs of deltas share. */
#ifndef WEIR_SRC_IMAGE_DELTA_OPTIONS_H
#define WEIR_SRC_IMAGE_DELTA_OPTIONS_H

#include <weir/delta.h>
#include "image/plain.h"

/* Copy the caller's options over the defaults, and check them. Return: 0 or -EINVAL. */
int weir__delta_options(struct weir_delta_options *out, const struct weir_delta_options *options);
/* What of them is for reading images. */
struct weir_load_options weir__delta_reading(const struct weir_delta_options *options);
/* Read an image, plain or compressed, into its plain form. @options: as of weir__plain_read(). */
int weir__delta_image(struct weir_plain *out, const char *path,
                      const struct weir_load_options *options);
/* to ^= from */
void weir__delta_xor(unsigned char *to, const unsigned char *from, uint64_t n);

#endif
