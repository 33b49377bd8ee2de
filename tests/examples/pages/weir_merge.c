/* SPDX-License-Identifier: MIT
 * Merge the set of another day, which was created with the same size and seed.
 * Prints:
 *     ann: 1, bob: 1
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_params same = WEIR_PARAMS_INIT;
	struct weir_filter *monday, *tuesday;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&monday, &params) < 0 ||
	    weir_params_of(monday, &same) < 0 ||
	    weir_create(&tuesday, &same) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert(monday, "ann", 3);
	weir_insert(tuesday, "bob", 3);
	if (weir_merge(monday, tuesday) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("ann: %d, bob: %d\n", weir_contains(monday, "ann", 3),
	       weir_contains(monday, "bob", 3));
	weir_destroy(tuesday);
	weir_destroy(monday);
	return 0;
}
