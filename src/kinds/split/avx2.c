/* SPDX-License-Identifier: MIT
 * The split kind for AVX2. */
#include "kinds/split/x86.h"
#define KERNEL_ISA WEIR_ISA_AVX2
#define KERNEL_TABLE weir__split_avx2
#include "kinds/split/kernel.h"
