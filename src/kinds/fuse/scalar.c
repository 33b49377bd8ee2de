/* SPDX-License-Identifier: MIT
 * The fuse kind's lookups for any machine. */
#define KERNEL_ISA WEIR_ISA_SCALAR
#define KERNEL_FIND weir__fuse_scalar
#include "kinds/fuse/kernel.h"
