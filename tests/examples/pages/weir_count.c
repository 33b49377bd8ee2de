/* SPDX-License-Identifier: MIT
 * Count how often a key was inserted. A count is never too low.
 * Prints:
 *     /index: 3
 *     /login: 0
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.kind = WEIR_FREQUENCY;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	for (int i = 0; i < 3; i++)
		weir_insert(f, "/index", 6);
	printf("/index: %d\n", (int)weir_count(f, "/index", 6));
	printf("/login: %d\n", (int)weir_count(f, "/login", 6));
	weir_destroy(f);
	return 0;
}
