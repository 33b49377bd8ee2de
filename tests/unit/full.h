/* SPDX-License-Identifier: MIT
 * Handles over filters that refuse keys when full, and reloads into a new filter. */
#ifndef WEIR_TESTS_UNIT_FULL_H
#define WEIR_TESTS_UNIT_FULL_H

#include "../bounded.h"
#include "../handles.h"
#include "set/generation.h"
#include "set/reload/reload.h"

enum { FULL_LINES = 64 };

static inline struct weir_handle *full_open(const struct weir_kind *kind, uint32_t most)
{
	struct weir_handle *h = NULL;
	assert_ok(weir_handle_create(&h, bounded_make(kind, FULL_LINES, most), NULL));
	return h;
}

/* Begin a reload into a filter of @kind that stores at most @most keys. Each duplicate counts as a
 * key. */
static inline struct weir_reload *full_begin(struct weir_handle *h, const struct weir_kind *kind,
                                             uint32_t most, bool keep)
{
	struct weir_reload_options o = WEIR_RELOAD_OPTIONS_INIT;
	struct weir_reload *r = NULL;
	o.keep_previous = keep;
	assert_ok(weir__writer_begin(h, "the test"));
	weir__standby_free(h);
	assert_ok(weir__reload_open(&r, h, bounded_make(kind, FULL_LINES, most), &o));
	return r;
}

/* Return: the number of copies of hash @i in the current filter. */
static inline int64_t full_count(const struct weir_handle *h, uint64_t i)
{
	return weir_count_hash(weir_handle_get(h), i);
}

#endif
