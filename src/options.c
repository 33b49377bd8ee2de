/* SPDX-License-Identifier: MIT
 * Options that begin with their own size, so that they can grow: those of an older header are shorter. */
#include <string.h>
#include "error.h"
#include "options.h"

int weir__options_copy(void *out, size_t size, const void *options, const char *whose)
{
	size_t given;
	if (!options)
		return 0;
	memcpy(&given, options, sizeof given);
	if (given < sizeof given || given > size)
		return weir__fail(-EINVAL, "%s.struct_size %zu: %zu to %zu, as its _INIT macro sets it", whose, given, sizeof given, size);
	memcpy(out, options, given);
	return 0;
}
