/* SPDX-License-Identifier: MIT
 * An allocator for keys that counts its blocks and bytes, fails after a number of calls, and checks
 * that no writer goes beyond a block. */
#ifndef WEIR_TESTS_COUNTED_MEMORY_H
#define WEIR_TESTS_COUNTED_MEMORY_H

#include "../../test.h"
#include "memory.h"

/* Bytes before a block, for its size, which keep the alignment; and after it, which stay as they
 * are. */
enum { COUNTED_HEAD = 16, COUNTED_GUARD = 64, COUNTED_BYTE = 0xa5 };
static long counted_blocks, counted_bytes;
static long counted_left = -1; /* calls before the allocator fails; -1: it never fails */

static void *counted_get(size_t bytes)
{
	if (!counted_left)
		return NULL;
	counted_left -= counted_left > 0;
	size_t *head = malloc(COUNTED_HEAD + bytes + COUNTED_GUARD);
	if (!head)
		return NULL;
	memset(head, COUNTED_BYTE, COUNTED_HEAD + bytes + COUNTED_GUARD);
	*head = bytes;
	counted_blocks++;
	counted_bytes += (long)bytes;
	return (char *)head + COUNTED_HEAD;
}

static size_t counted_size(void *memory)
{
	return *(size_t *)((char *)memory - COUNTED_HEAD);
}

static void counted_put(void *memory)
{
	size_t bytes = counted_size(memory);
	const unsigned char *guard = (unsigned char *)memory + bytes;
	for (int i = 0; i < COUNTED_GUARD; i++)
		assert_int_equal(guard[i], COUNTED_BYTE);
	counted_blocks--;
	counted_bytes -= (long)bytes;
	free((char *)memory - COUNTED_HEAD);
}

static const struct chain_memory memory = { counted_get, counted_put, counted_size };

/* Teardown of a test: nothing leaks. */
static int counted_check(void **state)
{
	long blocks = counted_blocks, bytes = counted_bytes;
	(void)state;
	counted_left = -1;
	counted_blocks = counted_bytes = 0; /* for the next test */
	assert_int_equal(blocks, 0);
	assert_int_equal(bytes, 0);
	return 0;
}

#endif
