/* SPDX-License-Identifier: MIT
 * The layered kind's lookups for AVX-512 (F, DQ and VL): batches note eight keys at once. */
#include "kinds/common/fuse_avx512.h"
#define KERNEL_ISA WEIR_ISA_AVX512
#define KERNEL weir__layered_avx512
#include "kinds/layered/kernel.h"
