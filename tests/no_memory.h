/* SPDX-License-Identifier: MIT
 * Refuses memory for bits while a test sets no_memory. Link with --wrap of weir__memory_alloc. */
#ifndef WEIR_TESTS_NO_MEMORY_H
#define WEIR_TESTS_NO_MEMORY_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "ground/memory.h"

static bool no_memory;
static atomic_uint asked_for_memory; /* number of calls */
static atomic_uint flags_of_memory;  /* enum weir_flags of the last call */

int __real_weir__memory_alloc(struct weir_memory *out, uint64_t bytes, uint32_t flags, void *place,
                              size_t place_bytes);
int __wrap_weir__memory_alloc(struct weir_memory *out, uint64_t bytes, uint32_t flags, void *place,
                              size_t place_bytes);
int __wrap_weir__memory_alloc(struct weir_memory *out, uint64_t bytes, uint32_t flags, void *place,
                              size_t place_bytes)
{
	atomic_fetch_add(&asked_for_memory, 1);
	flags_of_memory = flags;
	return no_memory ? -ENOMEM :
	                   __real_weir__memory_alloc(out, bytes, flags, place, place_bytes);
}

#endif
