/* SPDX-License-Identifier: MIT
 * The statistics of a handle and of its current filter. */
#ifndef WEIR_TESTS_FIGURES_H
#define WEIR_TESTS_FIGURES_H

#include <weir/handle.h>
#include "test.h"

static inline struct weir_handle_stats stats_of(const struct weir_handle *h)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	assert_ok(weir_handle_measure(h, &s, NULL));
	return s;
}

/* Return: the statistics of the handle's current filter. */
static inline struct weir_stats figures_of(const struct weir_handle *h)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	struct weir_stats filter = WEIR_STATS_INIT;
	assert_ok(weir_handle_measure(h, &s, &filter));
	return filter;
}

#endif
