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

/* The number of a shape by its name; 0 if the kind has none such. */
static inline uint32_t shape_number(const struct weir_shape *shape, const char *number)
{
	const char *has;
	for (unsigned i = 0; (has = weir_shape_field(shape->kind, i)) != NULL; i++)
		if (strcmp(has, number) == 0)
			return shape->field[i];
	return 0;
}

/* Has it a place for each copy of a key? Then its keys are counted as often as they are there. */
static inline bool kind_copies(uint32_t kind)
{
	return kind_has(kind, "fingerprint_bits");
}

/* Is it made of more filters the more keys it has? Then its capacity is that of the first. */
static inline bool kind_grows(uint32_t kind)
{
	return kind_has(kind, "layers");
}

/* Is it built from an exclude list too? */
static inline bool kind_excludes(uint32_t kind)
{
	return kind_has(kind, "second_segments");
}

/* Does a key that is added twice count twice? */
static inline bool kind_counts(uint32_t kind)
{
	return kind_has(kind, "counter_bits") || kind_copies(kind);
}

#endif
