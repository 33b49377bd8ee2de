/* SPDX-License-Identifier: MIT
 * While a reload runs, an insert through the handle also reaches the next filter.
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
	struct weir_reload *reload;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&first, &params) < 0 ||
	    weir_handle_create(&set, first, NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	if (weir_reload_begin(&reload, set, NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_handle_insert(set, "ann", 3);
	if (weir_reload_commit(reload) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("ann: %d\n", weir_handle_contains(set, "ann", 3));
	weir_handle_destroy(set);
	return 0;
}
