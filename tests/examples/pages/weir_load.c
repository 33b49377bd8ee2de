/* SPDX-License-Identifier: MIT
 * Map an image without a copy, and print the error message for a file that is missing.
 * Prints:
 *     users.weir: cannot open it: no such file or directory
 *     ann: 1
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	if (weir_load(&f, weir_location_path("users.weir"), NULL) < 0)
		printf("%s\n", weir_error_detail());
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert(f, "ann", 3);
	if (weir_save(f, weir_location_path("users.weir"), NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_destroy(f);
	if (weir_load(&f, weir_location_map("users.weir", WEIR_MAP_READ),
	    NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("ann: %d\n", weir_contains(f, "ann", 3));
	weir_destroy(f);
	return 0;
}
