/* SPDX-License-Identifier: MIT
 * List the kinds that can remove a key.
 * Prints:
 *     counting
 *     cuckoo
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{

	for (uint32_t kind = WEIR_BLOCKED; weir_kind_name(kind); kind++)
		if (weir_kind_can(kind, WEIR_CAN_REMOVE))
			puts(weir_kind_name(kind));
	return 0;
}
