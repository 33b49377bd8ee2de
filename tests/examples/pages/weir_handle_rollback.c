/* SPDX-License-Identifier: MIT
 * Keep the previous filter of a reload, and return to it.
 * Prints:
 *     reloaded from nothing: 0
 *     rolled back: 1
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_reload_options options = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *reload;
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *first;
	struct weir_handle *set;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	options.keep_previous = true;
	if (weir_create(&first, &params) < 0 ||
	    weir_handle_create(&set, first, NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_handle_insert(set, "ann", 3);
	if (weir_reload_begin(&reload, set, &options) < 0 ||
	    weir_reload_commit(reload) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("reloaded from nothing: %d\n",
	       weir_handle_contains(set, "ann", 3));
	if (weir_handle_rollback(set) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("rolled back: %d\n", weir_handle_contains(set, "ann", 3));
	weir_handle_destroy(set);
	return 0;
}
