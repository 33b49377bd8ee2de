/* SPDX-License-Identifier: MIT
 * det: mutexes. */
#include "det_internal.h"

enum { MUTEXES = 64 };

static struct mutex {
	const void *address;
	int owner; /* -1: none */
	struct det_clock released;
} mutexes[MUTEXES];
static int count;

void det_sync_begin(void)
{
	count = 0;
}

static struct mutex *find(const void *address)
{
	for (int i = 0; i < count; i++)
		if (mutexes[i].address == address)
			return &mutexes[i];
	if (count == MUTEXES)
		det_fail("more than %d mutexes", MUTEXES);
	mutexes[count] = (struct mutex){ .address = address, .owner = -1 };
	return &mutexes[count++];
}

bool det_mutex_free(const void *mutex)
{
	return find(mutex)->owner < 0;
}

void det_lock(const void *mutex)
{
	struct mutex *m = find(mutex);
	det_write_begins();
	while (m->owner >= 0)
		det_wait(DET_FOR_MUTEX, mutex);
	m->owner = det.current;
	det_tick();
	det_clock_join(&det_self()->clock, &m->released);
	det_operation_ends();
}

void det_unlock(const void *mutex)
{
	struct mutex *m = find(mutex);
	det_write_begins();
	if (m->owner != det.current)
		det_fail("thread %d unlocks a mutex that thread %d owns", det.current, m->owner);
	det_tick();
	m->released = det_self()->clock;
	m->owner = -1;
	det_operation_ends();
}
