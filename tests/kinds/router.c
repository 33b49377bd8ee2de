/* SPDX-License-Identifier: MIT
 * The kind router, as the verbs of every filter see it: one set with the keys of all its sets. The
 * reference has no names in its array, so unit/test_router.c checks the layout bit by bit. */
#include "kind.h"

static const struct test_layout layouts[] = { { .name = "router" } };

const struct test_kind test_kind_router = {
	.id = WEIR_ROUTER,
	.commutes = true,
	.coarse = true, /* its size is whole pages */
	.layouts = TEST_ROWS(layouts),
};
