/* SPDX-License-Identifier: MIT
 * The mathematics of the cuckoo kind. */
#ifndef WEIR_SRC_KINDS_CUCKOO_PLAN_H
#define WEIR_SRC_KINDS_CUCKOO_PLAN_H

#include <stdbool.h>
#include <weir/params.h>

/* Of absent keys answered true, with a share @load of the places taken. */
double weir__cuckoo_rate(double load, unsigned width);
/* Keys that so many lines take but for one time in a million. */
uint64_t weir__cuckoo_most(uint64_t lines, const struct weir_shape *shape);

/* The kind's plan, legal and describe. */
int weir__cuckoo_plan(const struct weir_params *params, struct weir_plan *out);
bool weir__cuckoo_legal(const struct weir_shape *shape, uint64_t lines);
void weir__cuckoo_describe(const struct weir_shape *shape, char text[WEIR_SHAPE_TEXT]);

#endif
