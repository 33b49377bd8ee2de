/* SPDX-License-Identifier: MIT
 * Insert a batch of texts. The bitmap marks the new texts.
 * Prints:
 *     2 new: 0 1
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct iovec keys[] = { { "ann", 3 }, { "bob", 3 }, { "ann", 3 } };
	uint64_t fresh[WEIR_BITMAP_WORDS(3)];
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	params.capacity = 1000;
	params.fp_rate = 0.001;
	if (weir_create(&f, &params) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	int64_t n = weir_insert_keys(f, weir_keys_iov(keys, 3), fresh);
	printf("%d new:", (int)n);
	for (int i = 0; i < 3; i++)
		if (fresh[i / 64] >> i % 64 & 1)
			printf(" %d", i);
	puts("");
	weir_destroy(f);
	return 0;
}
