/* SPDX-License-Identifier: MIT
 * The table of all kinds: see kind.h. */
#include "kind.h"

const struct test_kind *const test_kind_list[] = {
#define ENTRY(number, constant, name, summary) &test_kind_##name,
	WEIR_KINDS(ENTRY)
#undef ENTRY
};
const size_t test_kind_count = sizeof test_kind_list / sizeof test_kind_list[0];

const struct test_kind *test_kind_of(uint32_t id)
{
	for (size_t i = 0; i < test_kind_count; i++)
		if (test_kind_list[i]->id == id)
			return test_kind_list[i];
	return NULL;
}

struct weir_params test_params(const struct test_kind *kind, const struct weir_params *ask)
{
	struct weir_params params = *ask, init = WEIR_PARAMS_INIT;
	params.struct_size = init.struct_size;
	params.kind = kind->id;
	return params;
}
