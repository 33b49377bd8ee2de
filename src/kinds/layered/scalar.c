/* SPDX-License-Identifier: MIT
 * The layered kind's lookups for any machine. */
#define KERNEL_ISA WEIR_ISA_SCALAR
#define KERNEL weir__layered_scalar
#include "kinds/layered/kernel.h"
