/* SPDX-License-Identifier: MIT
 * The choice of a blocked filter's shape. */
#ifndef WEIR_SRC_KINDS_BLOCKED_PLAN_H
#define WEIR_SRC_KINDS_BLOCKED_PLAN_H

#include <weir/params.h>
#include "kinds/common/sector_rate.h"

/* The member plan of struct weir_kind. */
int weir__blocked_plan(const struct weir_params *params, struct weir_plan *out);

/* The layout of z words of g bits. */
struct weir_sectors weir__blocked_sectors(unsigned z, unsigned g);
/* The largest g for z: at most 10, and z * g at most the 20 fields of r and r2. */
unsigned weir__blocked_max_g(unsigned z);

#endif
