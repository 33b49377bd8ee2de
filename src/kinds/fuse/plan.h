/* SPDX-License-Identifier: MIT
 * The mathematics of the fuse kind. */
#ifndef WEIR_SRC_KINDS_FUSE_PLAN_H
#define WEIR_SRC_KINDS_FUSE_PLAN_H

#include <stdbool.h>
#include <weir/params.h>

/* The kind's plan, legal and describe. */
int weir__fuse_plan(const struct weir_params *params, struct weir_plan *out);
bool weir__fuse_legal(const struct weir_shape *shape, uint64_t lines);
void weir__fuse_describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT]);

/* The same filter with more cells for the same keys, by a share of them such as 0.02. */
void weir__fuse_enlarge(struct weir_plan *plan, double share);

#endif
