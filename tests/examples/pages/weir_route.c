/* SPDX-License-Identifier: MIT
 * One lookup finds the sets that may have a key.
 * Prints:
 *     istanbul: 0x3
 *     tokyo: 0x2
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	const char *const names[] = { "europe", "asia" };
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.kind = WEIR_ROUTER;
	params.router.sets = 2;
	params.router.names = names;
	params.seed = 7;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert_into(f, 0, "istanbul", 8);
	weir_insert_into(f, 1, "istanbul", 8);
	weir_insert_into(f, 1, "tokyo", 5);
	printf("istanbul: %#x\n", (unsigned)weir_route(f, "istanbul", 8));
	printf("tokyo: %#x\n", (unsigned)weir_route(f, "tokyo", 5));
	weir_destroy(f);
	return 0;
}
