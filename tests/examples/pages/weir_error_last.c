/* SPDX-License-Identifier: MIT
 * Ask which parameter was refused, and its limits.
 * Prints:
 *     fp_rate is 2
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	struct weir_error_info info = WEIR_ERROR_INFO_INIT;
	params.capacity = 1000;
	params.fp_rate = 2;
	if (weir_create(&f, &params) < 0) {
		weir_error_last(&info);
		printf("%s is %g\n", info.thing, info.values[0]);
	}
	return 0;
}
