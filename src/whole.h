/* SPDX-License-Identifier: MIT
 * Whole filters. */
#ifndef WEIR_SRC_WHOLE_H
#define WEIR_SRC_WHOLE_H

#include "filter.h"

/* An empty filter of the same layout and seed, in memory of its own. */
int weir__filter_like(struct weir_filter **out, const struct weir_filter *f);
/* 0 if weir_merge() can, else its error and sentence. */
int weir__merge_check(const struct weir_filter *dst, const struct weir_filter *src);

#endif
