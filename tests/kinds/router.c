/* SPDX-License-Identifier: MIT
 * The router kind. For the functions that every kind has, a router is one set with the keys of all
 * its sets. This file has no reference; unit/test_router.c checks the layout bit by bit. */
#include "kind.h"

static const struct test_layout layouts[] = { { .name = "router" } };

const struct test_kind test_kind_router = {
	.id = WEIR_ROUTER,
	.commutes = true,
	.coarse = true, /* the size is a multiple of the page size */
	.layouts = TEST_ROWS(layouts),
};
