/* SPDX-License-Identifier: MIT
 * det: the memory that code under test allocates while det runs. A cell is allocated at most once
 * in an execution, so every access to freed memory is found.
 *
 * A free needs no switch of threads. Its only effect is that later accesses fail. A switch right
 * before the thread's next store (det_write_begins) finds such accesses, for all blocks that the
 * thread has freed by then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "det_internal.h"

enum { ARENA_BYTES = 1 << 20, CELL = 16 };
enum { CELL_GUARD, CELL_LIVE, CELL_FREED };

static _Alignas(4096) char arena[ARENA_BYTES];
static uint8_t cell[ARENA_BYTES / CELL];
static size_t top; /* the first cell not yet allocated in this execution */
static size_t blocks;

void det_heap_begin(void)
{
	memset(cell, CELL_GUARD, top);
	top = blocks = 0;
}

static bool inside(uintptr_t address)
{
	return address >= (uintptr_t)arena && address < (uintptr_t)arena + ARENA_BYTES;
}

void det_heap_check(uintptr_t address)
{
	if (address < 4096)
		det_fail("access to address %#zx", (size_t)address);
	if (!inside(address))
		return;
	switch (cell[(address - (uintptr_t)arena) / CELL]) {
	case CELL_FREED:
		det_fail("use after free");
	case CELL_GUARD:
		det_fail("access outside of what was allocated");
	}
}

void *det_allocate(size_t bytes, size_t alignment)
{
	size_t cells = (bytes + CELL - 1) / CELL, align = alignment > CELL ? alignment / CELL : 1;
	size_t first = (top + align - 1) / align * align;
	if (bytes > ARENA_BYTES || first + cells + 1 > ARENA_BYTES / CELL) {
		fprintf(stderr, "det: %zu bytes do not fit the arena of %d\n", bytes, ARENA_BYTES);
		abort();
	}
	memset(cell + first, CELL_LIVE, cells);
	top = first + cells + 1; /* one more cell guards the end of the block */
	blocks++;
	return memset(arena + first * CELL, 0xA5, bytes); /* callers must not rely on zeroes */
}

void det_free(void *block)
{
	if (!block)
		return;
	size_t i = (size_t)((char *)block - arena) / CELL;
	if (!inside((uintptr_t)block) || cell[i] != CELL_LIVE || (i && cell[i - 1] == CELL_LIVE))
		det_fail("free of %p, which is no live block", block);
	det_memory_freed((uintptr_t)block, det_block_bytes(block));
	for (; cell[i] == CELL_LIVE; i++)
		cell[i] = CELL_FREED;
	blocks--;
	det_self()->freed = true;
}

size_t det_block_bytes(const volatile void *address)
{
	size_t i = ((uintptr_t)address - (uintptr_t)arena) / CELL, first = i, end = i;
	if (!inside((uintptr_t)address) || cell[i] != CELL_LIVE)
		return 0;
	while (first && cell[first - 1] == CELL_LIVE)
		first--;
	while (cell[end] == CELL_LIVE)
		end++;
	return (end - first) * CELL;
}

size_t det_allocated(void)
{
	return blocks;
}
