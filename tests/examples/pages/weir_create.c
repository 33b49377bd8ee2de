/* SPDX-License-Identifier: MIT
 * Create a filter for a thousand keys at one false positive in a thousand.
 * Prints:
 *     ann: 1, bob: 0
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert(f, "ann", 3);
	printf("ann: %d, bob: %d\n", weir_contains(f, "ann", 3),
	       weir_contains(f, "bob", 3));
	weir_destroy(f);
	return 0;
}
