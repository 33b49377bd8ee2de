/* SPDX-License-Identifier: MIT
 * A handle owns the filter that readers use, so that a writer can replace it.
 * Prints:
 *     ann: 1
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *first;
	struct weir_handle *set;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&first, &params) < 0 ||
	    weir_handle_create(&set, first, NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_handle_insert(set, "ann", 3); /* from any thread */
	printf("ann: %d\n", weir_handle_contains(set, "ann", 3));
	if (weir_handle_destroy(set) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	return 0;
}
