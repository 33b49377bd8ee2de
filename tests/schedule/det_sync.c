/* SPDX-License-Identifier: MIT
 * det: mutexes, and read-copy-update with its grace periods. */
#include <string.h>
#include "det_internal.h"

enum { MUTEXES = 64 };

static struct mutex {
	const void *address;
	int owner; /* -1: none */
	struct det_clock released;
} mutexes[MUTEXES];
static int count;
static struct det_clock grace_periods; /* what a read-side section that begins now knows */

void det_sync_begin(void)
{
	count = 0;
	memset(&grace_periods, 0, sizeof grace_periods);
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
	det_operation_begins();
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
	det_operation_begins();
	if (m->owner != det.current)
		det_fail("thread %d unlocks a mutex that thread %d owns", det.current, m->owner);
	det_tick();
	m->released = det_self()->clock;
	m->owner = -1;
	det_operation_ends();
}

void det_rcu_read_lock(void)
{
	struct det_thread *t = det_self();
	bool outermost = t->nesting == 0;
	if (outermost) {
		det_operation_begins();
		t->section++;
		det_tick();
		det_clock_join(&t->clock, &grace_periods);
	}
	t->nesting++;
	if (outermost)
		det_operation_ends();
}

void det_rcu_read_unlock(void)
{
	struct det_thread *t = det_self();
	bool outermost = t->nesting == 1;
	if (t->nesting == 0)
		det_fail("the end of a read-side section that was not begun");
	if (outermost) {
		det_operation_begins();
		det_tick();
		t->section_end = t->clock;
	}
	t->nesting--;
	if (outermost)
		det_operation_ends();
}

/* What came before the grace period is known to every section that begins after it; what the sections did that it waited for is
 * known after it. */
void det_rcu_synchronize(void)
{
	struct det_thread *t = det_self();
	if (t->nesting)
		det_fail("synchronize_rcu inside a read-side section waits for itself");
	det_operation_begins();
	det_tick();
	det_clock_join(&grace_periods, &t->clock);
	for (int i = 0; i < det.threads; i++)
		t->sections[i] = det.thread[i].nesting ? det.thread[i].section : 0;
	det_wait(DET_FOR_READERS, NULL);
	for (int i = 0; i < det.threads; i++)
		det_clock_join(&t->clock, &det.thread[i].section_end);
	det_tick();
	det_operation_ends();
}
