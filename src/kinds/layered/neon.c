/* SPDX-License-Identifier: MIT
 * The layered kind's lookups for NEON. */
#define KERNEL_ISA WEIR_ISA_NEON
#define KERNEL weir__layered_neon
#include "kinds/layered/kernel.h"
