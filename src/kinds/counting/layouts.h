/* SPDX-License-Identifier: MIT
 * The kernels of the listed layouts, and KERNEL_FIND, which finds one. */
#include "kinds/counting/kernel.h"

#define LAYOUT(b, z, g) COUNTING_REMOVE(b##_##z##_##g, b, z, g) COUNTERS_ONE(b, z, g)
COUNTING_LAYOUTS(LAYOUT)

const struct weir_kernel *KERNEL_FIND(const struct weir_shape *shape)
{
	static const struct counters_entry entries[] = { COUNTING_LAYOUTS(COUNTERS_ENTRY) };
	return counters_find(entries, sizeof entries / sizeof *entries, shape);
}
