/* SPDX-License-Identifier: MIT
 * Keep what each of 1,000 users has seen: a filter a user, which is its
 * bits alone.
 * Prints:
 *     15 words a user
 *     user 7, 42: 1; user 8, 42: 0
 */
#include <stdio.h>
#include <stdlib.h>
#include <weir/weir.h>

int main(void)
{
	struct weir_small s;
	if (weir_small_init(&s, 100, 0.01, 0) < 0)
		return fprintf(stderr, "%s\n", weir_error_detail()), 1;
	uint64_t *bits = calloc(1000 * s.words, sizeof(uint64_t));
	if (!bits)
		return perror("calloc"), 1;
	weir_small_insert_u64(&s, bits + 7 * s.words, 42);
	printf("%u words a user\n", (unsigned)s.words);
	printf("user 7, 42: %d; user 8, 42: %d\n",
	       weir_small_contains_u64(&s, bits + 7 * s.words, 42),
	       weir_small_contains_u64(&s, bits + 8 * s.words, 42));
	free(bits);
	return 0;
}
