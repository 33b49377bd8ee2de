/* SPDX-License-Identifier: MIT
 * The kinds as the tests know them: see kind.h. */
#include <errno.h>
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

bool test_takes_inserts(struct weir_filter *f)
{
	return weir_insert_hashes(f, NULL, 0, NULL) != -ENOTSUP;
}

bool test_can_remove(struct weir_filter *f)
{
	return weir_remove_hashes(f, NULL, 0, NULL) != -ENOTSUP;
}

bool test_can_count(const struct weir_filter *f)
{
	return weir_count_hashes(f, NULL, 0, NULL) != -ENOTSUP;
}

int test_fill(struct weir_filter **f, const uint64_t *hashes, size_t n)
{
	struct weir_params params = WEIR_PARAMS_INIT;
	struct weir_filter *built = NULL;
	if (test_takes_inserts(*f)) {
		int64_t answer = weir_insert_hashes(*f, hashes, n, NULL);
		return answer < 0 ? (int)answer : 0;
	}
	int err = weir_params_of(*f, &params);
	if (!err)
		err = weir_build(&built, &params, hashes, n);
	if (err)
		return err;
	weir_destroy(*f);
	*f = built;
	return 0;
}
