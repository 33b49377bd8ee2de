/* SPDX-License-Identifier: MIT
 * How many generations ago was a key inserted?
 * Prints:
 *     old: 1, new: 0, none: -1
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.kind = WEIR_WINDOW;
	params.window.generations = 3;
	params.window.generation_keys = 100;
	params.fp_rate = 0.001;
	params.seed = 7;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert(f, "old", 3);
	if (weir_window_advance(f) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert(f, "new", 3);
	printf("old: %d, new: %d, none: %d\n", weir_age(f, "old", 3),
	       weir_age(f, "new", 3),
	       weir_age(f, "none", 4));
	weir_destroy(f);
	return 0;
}
