/* SPDX-License-Identifier: MIT
 * The kinds of <weir/kinds.h> by their numbers. */
#ifndef WEIR_SRC_FILTER_KINDS_H
#define WEIR_SRC_FILTER_KINDS_H

#include "kind/kind.h"

/* The kind with that number, or NULL. */
const struct weir_kind *weir__kind(uint32_t id);
/* The type with that number, or NULL. Of a type there is what images and shapes need. */
const struct weir_kind *weir__type(uint32_t id);

#endif
