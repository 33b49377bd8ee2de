/* SPDX-License-Identifier: MIT
 * Hash a key once, and look up the hash in several filters with the same seed.
 * Prints:
 *     1 1
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	uint64_t hash = weir_hash(f, "ann", 3);
	weir_insert_hash(f, hash);
	printf("%d %d\n", weir_contains_hash(f, hash),
	       weir_contains(f, "ann", 3));
	weir_destroy(f);
	return 0;
}
