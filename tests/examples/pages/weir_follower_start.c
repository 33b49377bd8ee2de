/* SPDX-License-Identifier: MIT
 * Follow a file in a background thread. Until the file exists, every lookup answers yes.
 * Prints:
 *     ann: 1
 */
#include <stdio.h>
#include <unistd.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_handle_options options = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_handle *set;
	struct weir_follower *follower;
	struct weir_filter *made;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	options.flags = WEIR_HANDLE_ANY_SEED;
	options.absent = WEIR_ABSENT_YES;
	if (weir_handle_create(&set, NULL, &options) < 0 ||
	    weir_follower_start(&follower, set, "users.weir", NULL) < 0 ||
	    weir_create(&made, &params) < 0 ||
	    weir_insert(made, "ann", 3) < 0 ||
	/* in a real program another process saves the file */
	    weir_save(made, weir_location_path("users.weir"), NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	/* wait until the follower has loaded the file */
	while (weir_handle_contains(set, "eve", 3))
		usleep(1000);
	printf("ann: %d\n", weir_handle_contains(set, "ann", 3));
	weir_follower_stop(follower);
	weir_handle_destroy(set);
	weir_destroy(made);
	return 0;
}
