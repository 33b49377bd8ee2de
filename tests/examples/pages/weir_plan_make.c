/* SPDX-License-Identifier: MIT
 * Ask for the cost of a filter without creating it.
 * Prints:
 *     10.27 bits a key, 1254 KiB
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_plan plan = WEIR_PLAN_INIT;
	params.capacity = 1000000;
	params.fp_rate = 0.01;
	if (weir_plan_make(&params, &plan) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("%.2f bits a key, %d KiB\n", plan.bits_per_key,
	       (int)(plan.bytes / 1024));
	return 0;
}
