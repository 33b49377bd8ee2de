/* SPDX-License-Identifier: MIT
 * The fuse kind's kernels on each instruction set: one for each width of FUSE_WIDTHS, and one for
 * all other widths. */
#ifndef WEIR_SRC_KINDS_FUSE_KERNELS_H
#define WEIR_SRC_KINDS_FUSE_KERNELS_H

#include "config.h"
#include "kinds/common/fuse.h"

/* X(width) */
#define FUSE_WIDTHS(X) X(8) X(16) X(32)

const struct weir_kernel *weir__fuse_scalar(const struct weir_shape *shape);
const struct weir_kernel *weir__fuse_avx2(const struct weir_shape *shape);
const struct weir_kernel *weir__fuse_avx512(const struct weir_shape *shape);
const struct weir_kernel *weir__fuse_neon(const struct weir_shape *shape);

#endif
