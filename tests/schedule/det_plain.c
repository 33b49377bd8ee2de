/* SPDX-License-Identifier: MIT
 * det: plain accesses. A race is reported unless an access is ordered with every conflicting
 * access. A free counts as a write to the whole block. */
#include "det_location.h"

void det_check_plain_write(const struct location *l)
{
	if (l->plain_written && !det_knows(l->plain_writer, l->plain_written))
		det_fail("data race: %p was written by thread %d, and nothing orders this access "
		         "of thread %d after it",
		         (void *)l->address, l->plain_writer, det.current);
}

void det_check_reads(const struct location *l, const uint32_t read[DET_THREADS])
{
	for (int i = 0; i < det.threads; i++)
		if (read[i] && !det_knows(i, read[i]))
			det_fail("data race: %p was read by thread %d, and nothing orders this "
			         "write of thread %d after it",
			         (void *)l->address, i, det.current);
}

static void check_stores(const struct location *l, bool write)
{
	for (int i = 0; i < l->stores; i++) {
		const struct store *s = &l->store[i];
		if (s->when && !det_knows(s->thread, s->when))
			det_fail("data race: %p was stored to by thread %d, and nothing orders "
			         "this plain access of thread %d after it",
			         (void *)l->address, s->thread, det.current);
		if (write)
			det_check_reads(l, s->seen);
	}
}

static bool is_local(const volatile void *address)
{
	return (uintptr_t)address - (uintptr_t)det.options.local < det.options.local_bytes;
}

void det_plain(const volatile void *address, bool write)
{
	if (is_local(address))
		return;
	struct location *l = det_find(address);
	uint32_t now = det_tick();
	det_check_plain_write(l);
	check_stores(l, write);
	if (!write) {
		l->plain_read[det.current] = now;
		return;
	}
	det_check_reads(l, l->plain_read);
	if (det_self()->reader)
		det_fail("a thread that was to read only wrote to %p", (void *)l->address);
	l->plain_writer = (uint8_t)det.current;
	l->plain_written = now;
}

void det_plain_range(const volatile void *address, size_t bytes, bool write)
{
	for (size_t i = 0; i < bytes; i += 8)
		det_plain((const volatile char *)address + i, write);
}

/* Checks that a free comes after every access to the block. */
void det_memory_freed(uintptr_t address, size_t bytes)
{
	for (uintptr_t a = address; a < address + bytes; a += 4) {
		const struct location *l = det_slot(a);
		if (l->execution != det.execution)
			continue;
		det_check_plain_write(l);
		det_check_reads(l, l->plain_read);
		check_stores(l, true);
	}
}
