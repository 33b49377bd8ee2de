/* SPDX-License-Identifier: MIT
 * The instruction set that a kernel is compiled for. src/meson.build compiles each kernel.c for any
 * CPU, where KERNEL_SCALAR is defined, and once more for each instruction set of the machine, with
 * its flags and WEIR_KERNEL_AVX2, WEIR_KERNEL_AVX512 or WEIR_KERNEL_NEON. A kernel that gains
 * nothing from an instruction set defines nothing for it. */
#ifndef WEIR_SRC_GROUND_ISA_H
#define WEIR_SRC_GROUND_ISA_H

#include "ground/cpu.h"

/* KERNEL_NAME(weir__blocked) is weir__blocked_avx2, and so on. */
#if defined(WEIR_KERNEL_AVX512)
#define KERNEL_ISA WEIR_ISA_AVX512
#define KERNEL_NAME(name) name##_avx512
#elif defined(WEIR_KERNEL_AVX2)
#define KERNEL_ISA WEIR_ISA_AVX2
#define KERNEL_NAME(name) name##_avx2
#elif defined(WEIR_KERNEL_NEON)
#define KERNEL_ISA WEIR_ISA_NEON
#define KERNEL_NAME(name) name##_neon
#else
#define KERNEL_SCALAR 1
#define KERNEL_ISA WEIR_ISA_SCALAR
#define KERNEL_NAME(name) name##_scalar
#endif

#endif
