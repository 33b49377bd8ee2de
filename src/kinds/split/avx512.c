/* SPDX-License-Identifier: MIT
 * The split kind for AVX-512: a key has one block, which is half a vector, so it is that for AVX2
 * compiled with its flags. */
#include "kinds/split/x86.h"
#define KERNEL_ISA WEIR_ISA_AVX512
#define KERNEL_TABLE weir__split_avx512
#include "kinds/split/kernel.h"
