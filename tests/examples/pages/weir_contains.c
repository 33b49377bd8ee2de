/* SPDX-License-Identifier: MIT
 * Look up a text and a number. A number is a key of eight bytes.
 * Prints:
 *     ann: 1
 *     17: 1, 18: 0
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
	weir_insert_u64(f, 17);
	printf("ann: %d\n", weir_contains(f, "ann", 3));
	printf("17: %d, 18: %d\n", weir_contains_u64(f, 17),
	       weir_contains_u64(f, 18));
	weir_destroy(f);
	return 0;
}
