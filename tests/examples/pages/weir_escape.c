/* SPDX-License-Identifier: MIT
 * Print a client's key with its control characters escaped.
 * Prints:
 *     a\nb\033[2J
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	char shown[32];
	weir_escape(shown, sizeof shown, "a\nb\033[2J", 7);
	puts(shown);
	return 0;
}
