/* SPDX-License-Identifier: MIT
 * Which shape a blocked filter is given. */
#ifndef WEIR_SRC_KINDS_BLOCKED_PLAN_H
#define WEIR_SRC_KINDS_BLOCKED_PLAN_H

#include <weir/params.h>

/* struct weir_kind's plan. */
int weir__blocked_plan(const struct weir_params *params, struct weir_plan *out);

#endif
