/* SPDX-License-Identifier: MIT
 * The growing kind for any CPU: the kernels of growing/kernel.h compiled with its flags. */
#define WEIR_INLINE_SCALAR 1
#define KERNEL_ISA WEIR_ISA_SCALAR
#define KERNEL_TABLE weir__growing_scalar
#include "growing/kernel.h"
