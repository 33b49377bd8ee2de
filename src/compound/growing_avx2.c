/* SPDX-License-Identifier: MIT
 * The growing kind for AVX2: the kernels of growing_kernel.h compiled with its flags. */
#define KERNEL_ISA WEIR_ISA_AVX2
#define KERNEL_TABLE weir__growing_avx2
#include "compound/growing_kernel.h"
