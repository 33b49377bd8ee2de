/* SPDX-License-Identifier: MIT
 * Look keys up without a call into the library.
 * Prints:
 *     ann: 1, bob: 0
 */
#include <stdio.h>
#include <weir/inline.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	struct weir_inline view;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert(f, "ann", 3);
	if (weir_inline_init(&view, f) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("ann: %d, bob: %d\n", weir_inline_contains(&view, "ann", 3),
	       weir_inline_contains(&view, "bob", 3));
	weir_destroy(f);
	return 0;
}
