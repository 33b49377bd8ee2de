/* SPDX-License-Identifier: MIT
 * A key is gone after as many removals as inserts.
 * Prints:
 *     removed 1, there 1
 *     removed 1, there 0
 *     removed 0, there 0
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.kind = WEIR_COUNTING;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert(f, "ann", 3);
	weir_insert(f, "ann", 3);
	for (int i = 0; i < 3; i++) {
		int removed = weir_remove(f, "ann", 3);
		printf("removed %d, there %d\n", removed,
		       weir_contains(f, "ann", 3));
	}
	weir_destroy(f);
	return 0;
}
