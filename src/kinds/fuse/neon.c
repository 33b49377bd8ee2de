/* SPDX-License-Identifier: MIT
 * The fuse kind's lookups for NEON. */
#define KERNEL_ISA WEIR_ISA_NEON
#define KERNEL_FIND weir__fuse_neon
#include "kinds/fuse/kernel.h"
