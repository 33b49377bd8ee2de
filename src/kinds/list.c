/* SPDX-License-Identifier: MIT
 * The table of kinds: adding one is a line here. */
#include "kind.h"

static const struct weir_kind *const kinds[] = {
	[WEIR_BLOCKED] = &weir__kind_blocked,
	[WEIR_CLASSIC] = &weir__kind_classic,
};

const struct weir_kind *weir__kind(uint32_t id)
{
	return id < sizeof kinds / sizeof kinds[0] ? kinds[id] : NULL;
}
