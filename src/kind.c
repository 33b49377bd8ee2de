/* SPDX-License-Identifier: MIT
 * The answer to a verb that a kind lacks. */
#include "error.h"
#include "kind.h"

int weir__kind_cannot(const struct weir_kind *kind, const char *verb)
{
	return weir__fail(-ENOTSUP, "kind %s cannot %s", kind->name, verb);
}
