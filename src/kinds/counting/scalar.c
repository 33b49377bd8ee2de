/* SPDX-License-Identifier: MIT
 * The counting kind's kernels for one layout each, on every machine. */
#define KERNEL_ISA WEIR_ISA_SCALAR
#define KERNEL_FIND weir__counting_scalar
#define COUNTERS_UNROLL WEIR__UNROLL
#define COUNTERS_LOOK weir__counters_look
#define COUNTERS_HOLD weir__counters_hold
#define COUNTERS_COUNT weir__counters_count
#include "kinds/counting/layouts.h"
