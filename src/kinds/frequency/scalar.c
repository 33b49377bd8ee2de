/* SPDX-License-Identifier: MIT
 * The frequency kind's kernels for one layout each, on every machine. */
#define KERNEL_ISA WEIR_ISA_SCALAR
#define KERNEL_FIND weir__frequency_scalar
#define COUNTERS_UNROLL WEIR__UNROLL
#define COUNTERS_LOOK weir__counters_look
#define COUNTERS_HOLD weir__counters_hold
#define COUNTERS_COUNT weir__counters_count
#include "kinds/frequency/layouts.h"
