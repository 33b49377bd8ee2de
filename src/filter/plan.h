/* SPDX-License-Identifier: MIT
 * The checks of parameters that hold for every kind. */
#ifndef WEIR_SRC_FILTER_PLAN_H
#define WEIR_SRC_FILTER_PLAN_H

#include <weir/params.h>

/* Copy parameters into this library's struct. Fields that an older header's struct lacks become 0,
 * which means "not given". Returns 0 or -EINVAL, with the sentence set. */
int weir__params_copy(const struct weir_params *in, struct weir_params *out);

/* Copy parameters, which may come from an older header, and check them.
 * Return: 0 or a negative errno. */
int weir__params_check(const struct weir_params *in, struct weir_params *out);
/* The same, of a kind that is built once: a capacity of 0 is known at the end. */
int weir__params_check_open(const struct weir_params *in, struct weir_params *out);

/* Check that flags are known and none excludes another. Return: 0 or -EINVAL. */
int weir__flags_check(uint32_t flags);

#endif
