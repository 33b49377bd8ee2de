/* SPDX-License-Identifier: MIT
 * The allocator of a key: Redis's own in the module, another in the tests. */
#ifndef WEIR_REDIS_MEMORY_H
#define WEIR_REDIS_MEMORY_H

#include <stddef.h>

struct chain_memory {
	void *(*get)(size_t bytes); /* returns NULL if memory is short */
	void (*put)(void *memory);
	size_t (*size)(void *memory); /* bytes that the allocation takes */
};

#endif
