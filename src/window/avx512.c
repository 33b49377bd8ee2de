/* SPDX-License-Identifier: MIT
 * A window's lookups for AVX-512 (F, DQ and VL). */
#define KERNEL_COLUMNS weir__window_columns_avx512
#define KERNEL_RING weir__window_ring_avx512
#include "window/kernel.h"
