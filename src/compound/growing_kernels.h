/* SPDX-License-Identifier: MIT
 * The growing kind's tables of kernels by the shape of a layer: one for each instruction set. */
#ifndef WEIR_SRC_COMPOUND_GROWING_KERNELS_H
#define WEIR_SRC_COMPOUND_GROWING_KERNELS_H

#include "kind.h"

/* The first slot serves the rare shapes. Each other slot serves one shape: z = 1, 2, 4, 8 in rows,
 * g = 1 to 10 in columns. It is empty if the shape was not compiled. */
#define WEIR_GROWING_SLOT(z, g) (((z) == 1 ? 0 : (z) == 2 ? 1 : (z) == 4 ? 2 : 3) * 10 + (g))
enum { WEIR_GROWING_ANY = 0, WEIR_GROWING_SLOTS = 41 };

extern const struct weir_kernel weir__growing_scalar[WEIR_GROWING_SLOTS];
extern const struct weir_kernel weir__growing_avx2[WEIR_GROWING_SLOTS];
extern const struct weir_kernel weir__growing_avx512[WEIR_GROWING_SLOTS];
extern const struct weir_kernel weir__growing_neon[WEIR_GROWING_SLOTS];

#endif
