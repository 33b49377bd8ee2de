/* SPDX-License-Identifier: MIT
 * Save the changes from an old image to a new image, and load the old image with the changes.
 * Prints:
 *     bob: 1
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	const char *const delta = "delta";
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert(f, "ann", 3);
	if (weir_save(f, weir_location_path("old.weir"), NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert(f, "bob", 3);
	if (weir_save(f, weir_location_path("new.weir"), NULL) < 0 ||
	    weir_delta_save(weir_location_path("delta"),
	                    weir_location_path("old.weir"),
	                    weir_location_path("new.weir"), NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_destroy(f);
	struct weir_location both = weir_location_chain("old.weir", &delta,
	    1);
	if (weir_load(&f, both, NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("bob: %d\n", weir_contains(f, "bob", 3));
	weir_destroy(f);
	return 0;
}
