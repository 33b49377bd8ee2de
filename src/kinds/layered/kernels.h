/* SPDX-License-Identifier: MIT
 * The layered kind's kernels: one for each instruction set. */
#ifndef WEIR_SRC_KINDS_LAYERED_KERNELS_H
#define WEIR_SRC_KINDS_LAYERED_KERNELS_H

#include "config.h"
#include "kind/kind.h"

extern const struct weir_kernel weir__layered_scalar, weir__layered_avx2, weir__layered_avx512,
	weir__layered_neon;

#endif
