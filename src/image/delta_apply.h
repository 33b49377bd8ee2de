/* SPDX-License-Identifier: MIT
 * Applying a delta, for whoever has the image in memory. */
#ifndef WEIR_SRC_IMAGE_DELTA_APPLY_H
#define WEIR_SRC_IMAGE_DELTA_APPLY_H

#include "image/plain.h"

/* Make the new image of the old one, in place, and check every byte. After a failure nothing is
 * promised of it.
 * @name: of what it is now, for sentences.  @path: of the delta.
 * @options: max_bytes and progress are taken of them. */
int weir__delta_apply(struct weir_plain *plain, const char *name, const char *path,
                      const struct weir_load_options *options);

#endif
