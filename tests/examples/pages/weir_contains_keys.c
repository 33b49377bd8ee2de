/* SPDX-License-Identifier: MIT
 * Look up a batch of keys. Bit i of the bitmap is the answer for key i.
 * Prints:
 *     3 found
 *     1: 1
 *     2: 1
 *     3: 1
 *     99: 0
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	uint64_t keys[] = { 1, 2, 3, 99 }, found[WEIR_BITMAP_WORDS(4)];
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	if (weir_fill_keys(f, weir_keys_u64(keys, 3)) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	int64_t n = weir_contains_keys(f, weir_keys_u64(keys, 4), found);
	printf("%d found\n", (int)n);
	for (int i = 0; i < 4; i++)
		printf("%d: %d\n", (int)keys[i],
		       (int)(found[i / 64] >> i % 64 & 1));
	weir_destroy(f);
	return 0;
}
