/* SPDX-License-Identifier: MIT
 * The frequency kind's kernels, one for each layout, for any CPU and for AVX-512 (ground/system.h),
 * whose eight lanes hold a key's counters. AVX2 and NEON would gain nothing. */
#include "ground/system.h"
#if defined(KERNEL_SCALAR) || defined(WEIR_KERNEL_AVX512)

#define COUNTERS_UNROLL WEIR__UNROLL
#include "kinds/frequency/frequency.h"

FREQUENCY_LAYOUTS(COUNTERS_ONE)

const struct weir_kernel *KERNEL_NAME(weir__frequency)(const struct weir_shape *shape)
{
	static const struct counters_entry entries[] = { FREQUENCY_LAYOUTS(COUNTERS_ENTRY) };
	return counters_find(entries, sizeof entries / sizeof *entries, shape);
}

#endif
