/* SPDX-License-Identifier: MIT
 * Create a second filter that fits the first, so that the two can be merged.
 * Prints:
 *     one hash for both: 1
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_params same = WEIR_PARAMS_INIT;
	struct weir_filter *f, *other;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	if (weir_params_of(f, &same) < 0 || weir_create(&other, &same) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("one hash for both: %d\n",
	       weir_hash(f, "ann", 3) == weir_hash(other, "ann", 3));
	weir_destroy(other);
	weir_destroy(f);
	return 0;
}
