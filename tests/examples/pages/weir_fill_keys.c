/* SPDX-License-Identifier: MIT
 * Fill a filter that no other thread uses yet.
 * Prints:
 *     3 found
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	uint64_t keys[] = { 1, 2, 3 };
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	if (weir_fill_keys(f, weir_keys_u64(keys, 3)) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("%d found\n",
	       (int)weir_contains_keys(f, weir_keys_u64(keys, 3), NULL));
	weir_destroy(f);
	return 0;
}
