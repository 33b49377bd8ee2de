/* SPDX-License-Identifier: MIT
 * Replace the set by a new set made from the records, while readers go on.
 * Prints:
 *     bob: 1, eve: 0
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	const char *const records[] = { "ann", "bob" };
	struct weir_reload *reload;
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *first;
	struct weir_handle *set;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&first, &params) < 0 ||
	    weir_handle_create(&set, first, NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_handle_insert(set, "eve", 3);
	if (weir_reload_begin(&reload, set, NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	/* read the records only after weir_reload_begin() */
	for (int i = 0; i < 2; i++)
		weir_reload_insert(reload, records[i], 3);
	if (weir_reload_commit(reload) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("bob: %d, eve: %d\n", weir_handle_contains(set, "bob", 3),
	       weir_handle_contains(set, "eve", 3));
	weir_handle_destroy(set);
	return 0;
}
