/* SPDX-License-Identifier: MIT
 * Print the error message of a call that failed.
 * Prints:
 *     EINVAL: fp_rate 2: allowed: 1e-9 to 0.5
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.capacity = 1000;
	params.fp_rate = 2;
	int err = weir_create(&f, &params);
	printf("%s: %s\n", weir_error_name(err), weir_error_detail());
	return 0;
}
