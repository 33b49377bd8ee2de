/* SPDX-License-Identifier: MIT
 * The numbers of a kind's shape, by the names that they have in struct weir_params. */
#ifndef WEIR_TOOL_NUMBERS_H
#define WEIR_TOOL_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <weir/kinds.h>

static inline bool kind_has(uint32_t kind, const char *number)
{
	const char *has;
	for (unsigned i = 0; (has = weir_shape_field(kind, i)) != NULL; i++)
		if (strcmp(has, number) == 0)
			return true;
	return false;
}

#endif
