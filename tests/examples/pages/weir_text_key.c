/* SPDX-License-Identifier: MIT
 * Normalise an address as a filter with the same steps does.
 * Prints:
 *     ann@example.org
 */
#include <stdio.h>
#include <weir/weir.h>

int main(void)
{
	const uint32_t steps = WEIR_TEXT_TRIM | WEIR_TEXT_LOWERCASE;
	struct weir_text text = { .steps = steps };
	unsigned char room[WEIR_TEXT_ROOM(17)];
	struct iovec key;
	if (weir_text_key(&text, " Ann@Example.org\r", 17, room, &key) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	printf("%.*s\n", (int)key.iov_len, (const char *)key.iov_base);
	return 0;
}
