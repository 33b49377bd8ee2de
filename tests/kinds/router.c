/* SPDX-License-Identifier: MIT
 * The kind router, as the verbs of every filter see it: one set of the keys of all its sets. Its
 * layout is said once more, and asked bit by bit, in unit/test_router.c: the reference has no names
 * in its array. */
#include "kind.h"

static const struct test_layout layouts[] = { { .name = "router" } };

const struct test_kind test_kind_router = {
	.id = WEIR_ROUTER,
	.commutes = true,
	.coarse = true, /* its size is whole pages */
	.layouts = TEST_ROWS(layouts),
};
