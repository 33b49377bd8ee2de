/* SPDX-License-Identifier: MIT
 * A window's lookups for AVX2. */
#define KERNEL_COLUMNS weir__window_columns_avx2
#define KERNEL_RING weir__window_ring_avx2
#include "window/kernel.h"
