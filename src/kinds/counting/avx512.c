/* SPDX-License-Identifier: MIT
 * The counting kind's kernels for AVX-512 (F, DQ and VL), of the layouts that fit eight lanes. */
#define KERNEL_ISA WEIR_ISA_AVX512
#define KERNEL_FIND weir__counting_avx512
#define COUNTERS_UNROLL WEIR__UNROLL
#include "kinds/common/counters_avx512.h"
#include "kinds/counting/layouts.h"
