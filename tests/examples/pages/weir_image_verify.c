/* SPDX-License-Identifier: MIT
 * Check every byte of an image before you send it on.
 * Prints:
 *     whole
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
	if (weir_save(f, weir_location_path("users.weir"), NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_destroy(f);
	int err = weir_image_verify(weir_location_path("users.weir"), NULL,
	                            NULL);
	puts(err < 0 ? weir_error_detail() : "whole");
	return 0;
}
