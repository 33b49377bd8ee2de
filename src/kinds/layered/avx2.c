/* SPDX-License-Identifier: MIT
 * The layered kind's lookups for AVX2. */
#define KERNEL_ISA WEIR_ISA_AVX2
#define KERNEL weir__layered_avx2
#include "kinds/layered/kernel.h"
