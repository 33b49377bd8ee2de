/* SPDX-License-Identifier: MIT
 * Operations on whole filters. */
#ifndef WEIR_SRC_WHOLE_H
#define WEIR_SRC_WHOLE_H

#include "filter.h"

/* Make an empty filter of the same layout and seed as @f, in memory of its own. */
int weir__filter_like(struct weir_filter **out, const struct weir_filter *f);
/* Return: 0 if weir_merge() can merge the two, else its error. */
int weir__merge_check(const struct weir_filter *dst, const struct weir_filter *src);

#endif
