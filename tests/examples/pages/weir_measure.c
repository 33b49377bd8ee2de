/* SPDX-License-Identifier: MIT
 * How many keys are in a filter, and how full is it?
 * Prints:
 *     about 502 keys, room for 1000
 *     above its capacity: 0
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_stats stats = WEIR_STATS_INIT;
	struct weir_filter *f;
	params.seed = 7; /* so that each run prints the same */
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	for (uint64_t key = 0; key < 500; key++)
		weir_insert_u64(f, key);
	if (weir_measure(f, WEIR_EXACT, &stats) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("about %.0f keys, room for %d\n", stats.keys_estimated,
	       (int)stats.capacity);
	printf("above its capacity: %d\n", stats.saturated);
	weir_destroy(f);
	return 0;
}
