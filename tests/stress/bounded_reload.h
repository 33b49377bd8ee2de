/* SPDX-License-Identifier: MIT
 * Begins a reload of a handle with bounded filters (tests/bounded.h). The new filter has room for
 * @most copies. */
#ifndef WEIR_TESTS_BOUNDED_RELOAD_H
#define WEIR_TESTS_BOUNDED_RELOAD_H

#include "../bounded.h"
#include "flavor.h"
#include "set/generation.h"
#include "set/reload/reload.h"

static inline struct weir_reload *bounded_reload(struct weir_handle *h, uint32_t lines,
                                                 uint32_t most, bool keep)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	o.keep_previous = keep;
	check(weir__writer_begin(h, "the test") == 0, "%s", weir_error_detail());
	weir__standby_free(h);
	check(weir__reload_open(&r, h, bounded_make(&bounded_removes, lines, most), &o) == 0,
	      "%s", weir_error_detail());
	return r;
}

#endif
