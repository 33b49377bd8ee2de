/* SPDX-License-Identifier: MIT
 * The choice of a blocked filter's shape. */
#ifndef WEIR_SRC_KINDS_BLOCKED_PLAN_H
#define WEIR_SRC_KINDS_BLOCKED_PLAN_H

#include <weir/params.h>

/* The member plan of struct weir_kind. */
int weir__blocked_plan(const struct weir_params *params, struct weir_plan *out);

#endif
