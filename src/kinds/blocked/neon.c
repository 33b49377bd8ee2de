/* SPDX-License-Identifier: MIT
 * The blocked kind for NEON: the kernels of <weir/inline.h> compiled with its flags. */
#define KERNEL_ISA WEIR_ISA_NEON
#define KERNEL_TABLE weir__blocked_neon
#include "kinds/blocked/kernel.h"
