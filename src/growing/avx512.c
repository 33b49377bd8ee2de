/* SPDX-License-Identifier: MIT
 * The growing kind for AVX-512: the kernels of growing/kernel.h compiled with its flags. */
#define KERNEL_ISA WEIR_ISA_AVX512
#define KERNEL_TABLE weir__growing_avx512
#include "growing/kernel.h"
