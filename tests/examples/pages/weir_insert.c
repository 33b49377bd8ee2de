/* SPDX-License-Identifier: MIT
 * The first insert of a key returns WEIR_NEW, unless the key is a false positive.
 * Prints:
 *     new
 *     seen before
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
	for (int i = 0; i < 2; i++)
		puts(weir_insert(f, "order:17", 8) == WEIR_NEW ?
		     "new" : "seen before");
	weir_destroy(f);
	return 0;
}
