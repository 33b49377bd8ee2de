/* SPDX-License-Identifier: MIT
 * The kernels of the listed layouts, and KERNEL_FIND, which finds one. */
#include "kinds/frequency/kernel.h"

FREQUENCY_LAYOUTS(COUNTERS_ONE)

const struct weir_kernel *KERNEL_FIND(const struct weir_shape *shape)
{
	static const struct counters_entry entries[] = { FREQUENCY_LAYOUTS(COUNTERS_ENTRY) };
	return counters_find(entries, sizeof entries / sizeof *entries, shape);
}
