/* SPDX-License-Identifier: MIT
 * The growing kind for NEON: the kernels of growing/kernel.h compiled with its flags. */
#define KERNEL_ISA WEIR_ISA_NEON
#define KERNEL_TABLE weir__growing_neon
#include "growing/kernel.h"
