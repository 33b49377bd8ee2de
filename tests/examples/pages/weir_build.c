/* SPDX-License-Identifier: MIT
 * Build a fuse set, the kind with the least memory, from an array of keys.
 * Prints:
 *     2: 1
 *     takes inserts: no
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	uint64_t keys[] = { 1, 2, 3 };
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.kind = WEIR_FUSE;
	params.fp_rate = 0.001;
	if (weir_build(&f, &params, weir_keys_u64(keys, 3), NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("2: %d\n", weir_contains_u64(f, 2));
	printf("takes inserts: %s\n",
	       weir_can(f, WEIR_CAN_INSERT) ? "yes" : "no");
	weir_destroy(f);
	return 0;
}
