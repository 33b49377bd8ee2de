/* SPDX-License-Identifier: MIT
 * The fuse kind's lookups for AVX-512 (F, DQ and VL): batches note eight keys at once. */
#include "kinds/common/fuse_avx512.h"
#define KERNEL_ISA WEIR_ISA_AVX512
#define KERNEL_FIND weir__fuse_avx512
#include "kinds/fuse/kernel.h"
