/* SPDX-License-Identifier: MIT
 * Parameters, checked: all that does not depend on the kind. */
#ifndef WEIR_SRC_PLAN_H
#define WEIR_SRC_PLAN_H

#include <weir/params.h>

/* Copies the parameters of any older struct_size and checks them. 0 or a negative errno, with the
 * sentence set. */
int weir__params_check(const struct weir_params *in, struct weir_params *out);

/* enum weir_flags, or'ed: those there are, and no two that exclude each other. 0 or -EINVAL with
 * its sentence. */
int weir__flags_check(uint32_t flags);

#endif
