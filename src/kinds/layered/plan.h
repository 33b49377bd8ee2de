/* SPDX-License-Identifier: MIT
 * The mathematics of the layered kind. */
#ifndef WEIR_SRC_KINDS_LAYERED_PLAN_H
#define WEIR_SRC_KINDS_LAYERED_PLAN_H

#include <stdbool.h>
#include <weir/params.h>

struct weir_filter;

/* The kind's plan, legal, describe, sieve and on_sieve. */
int weir__layered_plan(const struct weir_params *params, struct weir_plan *out);
bool weir__layered_legal(const struct weir_shape *shape, uint64_t lines);
void weir__layered_describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT]);
int weir__layered_sieve(const struct weir_params *params, struct weir_params *out);
int weir__layered_on_sieve(const struct weir_params *params, const struct weir_filter *sieve,
                           uint64_t passed, struct weir_plan *out);

/* The same filter with more cells in its second level, by a share of them such as 0.02. */
void weir__layered_enlarge(struct weir_plan *plan, double share);

#endif
