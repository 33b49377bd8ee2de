/* SPDX-License-Identifier: MIT
 * The counting kind's kernels, one for each layout, for any CPU and for AVX-512 (ground/system.h),
 * whose eight lanes hold a key's counters. AVX2 and NEON would gain nothing. */
#include "ground/system.h"
#if defined(KERNEL_SCALAR) || defined(WEIR_KERNEL_AVX512)

#define COUNTERS_UNROLL WEIR__UNROLL
#include "kinds/counting/counting.h"

#define LAYOUT(b, z, g) COUNTING_REMOVE(b##_##z##_##g, b, z, g) COUNTERS_ONE(b, z, g)
COUNTING_LAYOUTS(LAYOUT)

const struct weir_kernel *KERNEL_NAME(weir__counting)(const struct weir_shape *shape)
{
	static const struct counters_entry entries[] = { COUNTING_LAYOUTS(COUNTERS_ENTRY) };
	return counters_find(entries, sizeof entries / sizeof *entries, shape);
}

#endif
