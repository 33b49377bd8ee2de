/* SPDX-License-Identifier: MIT
 * The kinds of <weir/kinds.h>: weir__kind_blocked and so on. */
#ifndef WEIR_SRC_KINDS_LIST_H
#define WEIR_SRC_KINDS_LIST_H

#include "kind.h"

#define WEIR__DECLARE(number, constant, name, summary) \
	extern const struct weir_kind weir__kind_##name;
WEIR_KINDS(WEIR__DECLARE)
#undef WEIR__DECLARE
#define WEIR__DECLARE(number, constant, name, summary) \
	extern const struct weir_kind weir__type_##name;
WEIR_TYPES(WEIR__DECLARE)
#undef WEIR__DECLARE

/* The kind with that number, or NULL. */
const struct weir_kind *weir__kind(uint32_t id);
/* The type with that number, or NULL. Of a type there is what images and shapes need. */
const struct weir_kind *weir__type(uint32_t id);

#endif
