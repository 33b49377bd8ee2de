/* SPDX-License-Identifier: MIT
 * The blocked kind for AVX2: the kernels of <weir/inline.h> compiled with its flags. */
#define KERNEL_ISA WEIR_ISA_AVX2
#define KERNEL_TABLE weir__blocked_avx2
#include "kinds/blocked/kernel.h"
