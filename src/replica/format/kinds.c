/* SPDX-License-Identifier: MIT
 * A node that gets no answer cannot tell whether redis has its batch, and sends the batch again. So
 * a kind can replicate inserts only if a repeated insert does not change its filter. */
#include <errno.h>
#include <weir/error.h>
#include <weir/kinds.h>
#include "manifest.h"

enum weir_replicable weir__replicable(uint32_t kind)
{
	const uint32_t can = weir_kind_can(kind, WEIR_CAN_REPLICATE | WEIR_CAN_BUILD);
	return can & WEIR_CAN_REPLICATE ? WEIR_REPLICABLE_INSERTS :
	       can & WEIR_CAN_BUILD     ? WEIR_REPLICABLE_IMAGES :
	                                  WEIR_REPLICABLE_NOT;
}

int weir__replicable_check(uint32_t kind)
{
	const char *name = weir_kind_name(kind);
	if (weir__replicable(kind) != WEIR_REPLICABLE_NOT)
		return 0;
	if (!name)
		return weir_fail(-ENOTSUP, "kind %u cannot be replicated: it is unknown here",
		                 (unsigned)kind);
	return weir_fail(-ENOTSUP, "kind %s cannot be replicated: an insert that comes twice would "
	                 "count twice, a window forgets and a router has many sets; use "
	                 "blocked, classic, growing or split", name);
}
