/* SPDX-License-Identifier: MIT
 * Makes an image with a given generation and number of shards, for which the weir command has no
 * options. make_image IMAGE GENERATION [CAPACITY SHARDS] */
#include <stdio.h>
#include <stdlib.h>
#include <weir/weir.h>

int main(int argc, char **argv)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_save_options options = WEIR_SAVE_OPTIONS_INIT;
	struct weir_filter *f = NULL;
	params.capacity = 100;
	params.fp_rate = 0.01;
	bool right = argc == 3 || argc == 5;
	if (right)
		options.generation = strtoull(argv[2], NULL, 10);
	if (argc == 5) {
		params.capacity = strtoull(argv[3], NULL, 10);
		params.shards = (uint32_t)strtoul(argv[4], NULL, 10);
	}
	if (right && weir_create(&f, &params) == 0 &&
	    weir_save(f, weir_location_path(argv[1]), &options) > 0) {
		weir_destroy(f);
		return 0;
	}
	fprintf(stderr, "%s\n", right ? weir_error_detail() :
	                               "make_image IMAGE GENERATION [CAPACITY SHARDS]");
	return 1;
}
