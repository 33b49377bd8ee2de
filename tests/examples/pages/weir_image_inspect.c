/* SPDX-License-Identifier: MIT
 * Read the head of an image: the kind, the capacity and the rate of its filter.
 * Prints:
 *     blocked, room for 1000, rate 0.001
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	struct weir_image_info info = WEIR_IMAGE_INFO_INIT;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	if (weir_save(f, weir_location_path("users.weir"), NULL) < 0 ||
	    weir_image_inspect(weir_location_path("users.weir"), &info) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("%s, room for %d, rate %g\n", weir_kind_name(info.shape.kind),
	       (int)info.capacity,
	       info.fp_rate);
	weir_destroy(f);
	return 0;
}
