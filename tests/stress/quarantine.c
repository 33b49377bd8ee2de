/* SPDX-License-Identifier: MIT
 * Freed memory is overwritten and kept for a while (ld --wrap). Otherwise malloc() would reuse the
 * memory of a handle's old record for its next record, and a thread that still reads the old record
 * would find a valid record. */
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 1024, LARGEST = 1 << 16 };

void __real_free(void *block);
void __wrap_free(void *block);

void __wrap_free(void *block)
{
	static void *_Atomic kept[KEPT];
	static atomic_uint turn;
	size_t bytes = block ? malloc_usable_size(block) : 0;
	if (!block || bytes > LARGEST) {
		__real_free(block);
		return;
	}
	memset(block, 0xa5, bytes);
	__real_free(atomic_exchange(&kept[atomic_fetch_add(&turn, 1) % KEPT], block));
}
