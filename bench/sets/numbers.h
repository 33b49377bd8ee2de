/* SPDX-License-Identifier: MIT
 * The numbers of a kind's shape, by their names in struct weir_params. */
#ifndef WEIR_BENCH_SETS_NUMBERS_H
#define WEIR_BENCH_SETS_NUMBERS_H

#include <cstring>
#include <weir/kinds.h>

/* Return: the number, or 0 if the kind lacks it. */
static inline uint32_t shape_number(const struct weir_shape *shape, const char *number)
{
	const char *has;
	for (unsigned i = 0; (has = weir_shape_field(shape->kind, i)) != NULL; i++)
		if (strcmp(has, number) == 0)
			return shape->field[i];
	return 0;
}

static inline bool shape_has(uint32_t kind, const char *number)
{
	const char *has;
	for (unsigned i = 0; (has = weir_shape_field(kind, i)) != NULL; i++)
		if (strcmp(has, number) == 0)
			return true;
	return false;
}

#endif
