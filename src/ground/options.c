/* SPDX-License-Identifier: MIT
 * Structs that begin with their own size. */
#include <string.h>
#include "ground/error.h"
#include "ground/options.h"

int weir__size_check(const void *sized, size_t size, const char *whose)
{
	size_t given;
	if (!sized)
		return weir__fail(-EINVAL, "%s is NULL: start from its _INIT macro", whose);
	memcpy(&given, sized, sizeof given);
	if (given < sizeof given || given > size)
		return weir__fail(-EINVAL,
		                  "%s.struct_size %zu: %zu to %zu, as its _INIT macro sets it",
		                  whose, given, sizeof given, size);
	return 0;
}

int weir__options_copy(void *out, size_t size, const void *options, const char *whose)
{
	int err = options ? weir__size_check(options, size, whose) : 0;
	if (options && !err)
		memcpy(out, options, *(const size_t *)options);
	return err;
}
