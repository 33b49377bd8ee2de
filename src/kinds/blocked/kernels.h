/* SPDX-License-Identifier: MIT
 * The blocked kind's shape, and its tables of kernels by shape: one for each instruction set. */
#ifndef WEIR_SRC_KINDS_BLOCKED_KERNELS_H
#define WEIR_SRC_KINDS_BLOCKED_KERNELS_H

#include "kind.h"

/* The fields of its shape. */
enum { WEIR_BLOCKED_Z = 0, WEIR_BLOCKED_G = 1 };

/* The first slot serves the rare shapes. Each other slot serves one shape: z = 1, 2, 4, 8 in rows,
 * g = 1 to 10 in columns. It is empty if the shape was not compiled. */
#define WEIR_BLOCKED_SLOT(z, g) (((z) == 1 ? 0 : (z) == 2 ? 1 : (z) == 4 ? 2 : 3) * 10 + (g))
enum { WEIR_BLOCKED_ANY = 0, WEIR_BLOCKED_SLOTS = 41 };

extern const struct weir_kernel weir__blocked_scalar[WEIR_BLOCKED_SLOTS];
extern const struct weir_kernel weir__blocked_avx2[WEIR_BLOCKED_SLOTS];
extern const struct weir_kernel weir__blocked_avx512[WEIR_BLOCKED_SLOTS];
extern const struct weir_kernel weir__blocked_neon[WEIR_BLOCKED_SLOTS];

#endif
