/* SPDX-License-Identifier: MIT
 * Count the lookups that a filter keeps away from a slow store.
 * Prints:
 *     9 of 10 stopped
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_guard_options options = WEIR_GUARD_OPTIONS_INIT;
	struct weir_guard_stats stats = WEIR_GUARD_STATS_INIT;
	struct weir_filter *f;
	struct weir_guard *guard;
	struct weir_guard_thread *thread; /* one for each thread */
	params.seed = 7;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert_u64(f, 0); /* the store has the key 0 */
	options.filter = f;
	if (weir_guard_create(&guard, &options) < 0 ||
	    weir_guard_join(&thread, guard) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	for (uint64_t key = 0; key < 10; key++) {
		int answer = weir_guard_ask_u64(thread, key);
		if (answer != WEIR_GUARD_ABSENT)
			/* as the store answered */
			weir_guard_saw(thread, answer, key == 0);
	}
	if (weir_guard_measure(guard, &stats) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("%d of %d stopped\n", (int)stats.stopped, (int)stats.asked);
	weir_guard_leave(thread);
	weir_guard_destroy(guard);
	weir_destroy(f);
	return 0;
}
