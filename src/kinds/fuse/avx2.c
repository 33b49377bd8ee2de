/* SPDX-License-Identifier: MIT
 * The fuse kind's lookups for AVX2. */
#define KERNEL_ISA WEIR_ISA_AVX2
#define KERNEL_FIND weir__fuse_avx2
#include "kinds/fuse/kernel.h"
