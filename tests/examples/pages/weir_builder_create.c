/* SPDX-License-Identifier: MIT
 * Collect keys one by one, and build the set at the end.
 * Prints:
 *     bob: 1
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *f;
	struct weir_builder *builder;
	params.kind = WEIR_FUSE;
	params.fp_rate = 0.001;
	if (weir_builder_create(&builder, &params, NULL) < 0 ||
	    weir_builder_add(builder, "ann", 3) < 0 ||
	    weir_builder_add(builder, "bob", 3) < 0 ||
	    weir_builder_finish(&f, builder, NULL) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	weir_builder_destroy(builder);
	printf("bob: %d\n", weir_contains(f, "bob", 3));
	weir_destroy(f);
	return 0;
}
