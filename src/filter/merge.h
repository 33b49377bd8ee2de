/* SPDX-License-Identifier: MIT
 * Operations on whole filters. */
#ifndef WEIR_SRC_FILTER_MERGE_H
#define WEIR_SRC_FILTER_MERGE_H

#include "filter/filter.h"

/* Make an empty filter of the same layout and seed as @f, in memory of its own. */
int weir__filter_like(struct weir_filter **out, const struct weir_filter *f);
/* Return: 0 if weir_merge() can merge the two, else its error. */
int weir__merge_check(const struct weir_filter *dst, const struct weir_filter *src);
/* weir_merge() that calls @progress between pieces (progress.h), or NULL. Return: likewise;
 * -ECANCELED it was stopped: then @dst has a part of @src. */
int weir__merge(struct weir_filter *dst, const struct weir_filter *src,
                weir_progress_fn *progress, void *progress_arg);

#endif
