/* SPDX-License-Identifier: MIT
 * Halve a filter that turned out too large. It keeps its keys.
 * Prints:
 *     8192 bytes, then 4096
 *     ann: 1
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_stats before = WEIR_STATS_INIT, after = WEIR_STATS_INIT;
	struct weir_filter *f, *small;
	params.max_bytes = 8192;
	params.capacity = 1000;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert(f, "ann", 3);
	if (weir_fold(&small, f, 2) < 0 ||
	    weir_measure(f, WEIR_EXACT, &before) < 0 ||
	    weir_measure(small, WEIR_EXACT, &after) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("%d bytes, then %d\n", (int)before.bytes, (int)after.bytes);
	printf("ann: %d\n", weir_contains(small, "ann", 3));
	weir_destroy(small);
	weir_destroy(f);
	return 0;
}
