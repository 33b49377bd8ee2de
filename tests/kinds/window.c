/* SPDX-License-Identifier: MIT
 * The window kind. This file has no reference, because the array contains a spare generation, and
 * because in the layout named columns each line holds words of several generations. The test
 * golden/test_window.c pins the bits, which are those of blocked filters. unit/test_window*.c test
 * which keys a window forgets, and when. */
#include "kind.h"

static const struct test_layout layouts[] = {
	{ .name = "window columns", .one_new = true },
	{ .name = "window columns G=16", .ask.window.generations = 16, .one_new = true },
	{ .name = "window ring", .ask.window.layout = WEIR_WINDOW_RING },
	{ .name = "window ring z=1",
	  .ask.window = { .layout = WEIR_WINDOW_RING, .words_per_key = 1 }, .one_new = true },
};

const struct test_kind test_kind_window = {
	.id = WEIR_WINDOW,
	.every_isa = true,
	.commutes = true,
	.coarse = true, /* each generation has a whole number of lines */
	.layouts = TEST_ROWS(layouts),
};
