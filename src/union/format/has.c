/* SPDX-License-Identifier: MIT
 * What an image has: ids of generations and tokens. */
#include <string.h>
#include "manifest.h"

bool weir__has(const struct weir_has *has, uint64_t id)
{
	for (uint32_t i = 0; i < has->n; i++)
		if (has->id[i] == id)
			return true;
	return false;
}

bool weir__has_add(struct weir_has *has, uint64_t id)
{
	if (weir__has(has, id))
		return true;
	const bool room = has->n < WEIR_HAS;
	has->n += room;
	memmove(has->id + 1, has->id, (has->n - 1) * sizeof *has->id);
	has->id[0] = id;
	return room;
}
