/* SPDX-License-Identifier: MIT
 * A user's program in C: creates a filter, inserts, and looks up alone, in a batch and inline. */
#include <stdio.h>
#include <weir/inline.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f = NULL;
	struct weir_inline view;
	uint64_t keys[3] = { 1, 2, 3 }, bitmap[WEIR_BITMAP_WORDS(3)];
	params.capacity = 1000;
	params.fp_rate = 0.000001;
	if (weir_create(&f, &params) < 0) {
		fprintf(stderr, "%s\n", weir_error_detail());
		return 1;
	}
	bool right = weir_insert(f, "apple", 5) == WEIR_NEW && weir_contains(f, "apple", 5) &&
	             !weir_contains(f, "pear", 4) && weir_insert_hash(f, 12345) == WEIR_NEW &&
	             weir_contains_hash(f, 12345) &&
	             weir_insert_keys(f, weir_keys_u64(keys, 2), NULL) == 2 &&
	             weir_contains_keys(f, weir_keys_u64(keys, 3), bitmap) == 2 &&
	             bitmap[0] == 3 && weir_inline_init(&view, f) == 0 &&
	             weir_inline_contains(&view, "apple", 5) &&
	             !weir_inline_contains(&view, "plum", 4);
	weir_destroy(f);
	printf("weir %s\n", weir_version());
	return right ? 0 : 1;
}
