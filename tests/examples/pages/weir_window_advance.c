/* SPDX-License-Identifier: MIT
 * A window forgets keys after a number of advances.
 * Prints:
 *     after 0: 1
 *     after 1: 1
 *     after 2: 1
 *     after 3: 0
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.kind = WEIR_WINDOW;
	params.window.generations = 3;
	params.window.generation_keys = 100;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_insert(f, "nonce", 5);
	for (int i = 0; i <= 3; i++) {
		printf("after %d: %d\n", i, weir_contains(f, "nonce", 5));
		if (weir_window_advance(f) < 0)
			return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	}
	weir_destroy(f);
	return 0;
}
