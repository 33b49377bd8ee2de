/* SPDX-License-Identifier: MIT
 * Ask what a filter can do before you rely on it.
 * Prints:
 *     insert: yes
 *     remove: no
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
	printf("insert: %s\n", weir_can(f, WEIR_CAN_INSERT) ? "yes" : "no");
	printf("remove: %s\n", weir_can(f, WEIR_CAN_REMOVE) ? "yes" : "no");
	weir_destroy(f);
	return 0;
}
