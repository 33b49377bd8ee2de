/* SPDX-License-Identifier: MIT
 * A clone is a filter of its own: a later insert changes only one of the two filters.
 * Prints:
 *     copy: ann 1, bob 0
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f, *copy;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert(f, "ann", 3);
	if (weir_clone(&copy, f) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert(f, "bob", 3);
	printf("copy: ann %d, bob %d\n", weir_contains(copy, "ann", 3),
	       weir_contains(copy, "bob", 3));
	weir_destroy(copy);
	weir_destroy(f);
	return 0;
}
