/* SPDX-License-Identifier: MIT
 * The growing kind for AVX2: the kernels of growing/kernel.h compiled with its flags. */
#define KERNEL_ISA WEIR_ISA_AVX2
#define KERNEL_TABLE weir__growing_avx2
#include "growing/kernel.h"
