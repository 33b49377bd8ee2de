/* SPDX-License-Identifier: MIT
 * A window's lookups for any CPU. */
#define KERNEL_COLUMNS weir__window_columns
#define KERNEL_RING weir__window_ring
#include "window/kernel.h"
