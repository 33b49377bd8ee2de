/* SPDX-License-Identifier: MIT
 * det: mutexes, and the sleep of futex(2). */
#include <string.h>
#include "det_internal.h"

enum { MUTEXES = 64 };

static struct mutex {
	const void *address;
	int owner; /* the thread that has locked the mutex; -1: no thread */
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

/* No switch comes between the check of the value and the sleep, because the kernel holds a lock
 * over both. If the value differs, the thread may not read the old value again, or a waiting loop
 * could go on for ever. */
bool det_sleep(const void *address, uint32_t value)
{
	uint32_t now;
	det_write_begins();
	det_tick();
	memcpy(&now, address, sizeof now); /* the newest value */
	if (now != value) {
		det_self()->paused_clock = det_tick();
		det_operation_ends();
		return false;
	}
	det_self()->woken = false;
	det_wait(DET_FOR_WAKE, address);
	det_tick();
	return true;
}

void det_wake(const void *address)
{
	det_write_begins();
	det_tick();
	for (int i = 0; i < det.threads; i++)
		if (det.thread[i].wait == DET_FOR_WAKE && det.thread[i].mutex == address)
			det.thread[i].woken = true;
	det_operation_ends();
}
