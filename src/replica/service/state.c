/* SPDX-License-Identifier: MIT
 * What a node does, in words. */
#include <weir/replica.h>

const char *weir_replica_state_name(uint32_t state)
{
	static const char *const names[] = { "offline", "catching up", "following", "publishing" };
	return state < sizeof names / sizeof *names ? names[state] : "?";
}
