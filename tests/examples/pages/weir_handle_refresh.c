/* SPDX-License-Identifier: MIT
 * Look at a file, and load its set if the file has changed.
 * Prints:
 *     look 1: 1
 *     look 2: 0
 *     ann: 1
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *first;
	struct weir_handle *set;
	struct weir_filter *made;
	params.seed = 1; /* the same for both */
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&first, &params) < 0 ||
	    weir_handle_create(&set, first, NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	if (weir_create(&made, &params) < 0 ||
	    weir_insert(made, "ann", 3) < 0 ||
	    weir_save(made, weir_location_path("users.weir"), NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	for (int look = 1; look <= 2; look++)
		printf("look %d: %d\n", look,
		       weir_handle_refresh(set, "users.weir", NULL));
	printf("ann: %d\n", weir_handle_contains(set, "ann", 3));
	weir_destroy(made);
	weir_handle_destroy(set);
	return 0;
}
