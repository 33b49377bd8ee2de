/* SPDX-License-Identifier: MIT
 * Find a set of a router by its name, to insert into it.
 * Prints:
 *     asia is set 1
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
	int asia = weir_router_find(f, "asia");
	printf("asia is set %d\n", asia);
	weir_insert_into(f, (uint32_t)asia, "tokyo", 5);
	printf("tokyo: %#x\n", (unsigned)weir_route(f, "tokyo", 5));
	weir_destroy(f);
	return 0;
}
