/* SPDX-License-Identifier: MIT
 * How many keys a fuse structure has: from its cells, or a sample of them. */
#ifndef WEIR_SRC_KINDS_COMMON_FUSE_MEASURE_H
#define WEIR_SRC_KINDS_COMMON_FUSE_MEASURE_H

#include "kinds/common/fuse.h"

/* Add lines first .. first+n-1 of it to sum.  @part_lines: from one part to the next. */
void weir__fuse_measure(const struct weir_fuse *part, const uint64_t *words, uint64_t part_lines,
                        uint64_t first, uint64_t n, struct weir_measure *sum);
/* The keys, from such a sum of fingerprints.  @whole: of all lines. */
double weir__fuse_keys(const struct weir_fuse *part, const struct weir_measure *sum, bool whole);

#endif
