/* SPDX-License-Identifier: MIT
 * det: read-copy-update. A grace period gives only the order that RCU guarantees. The sections that
 * it waits for happen before its end. Everything before its beginning happens before every other
 * section. */
#include <string.h>
#include "det_internal.h"

static struct det_clock grace_periods[DET_FLAVORS]; /* the clock that a new section joins */

/* The callbacks of det_rcu_call(). Each callback runs in a thread of its own. */
static struct callback {
	enum det_flavor flavor;
	void (*function)(void *);
	void *argument;
} callbacks[DET_THREADS];

void det_rcu_begin(void)
{
	memset(grace_periods, 0, sizeof grace_periods);
}

int det_rcu_nesting(enum det_flavor flavor)
{
	return det_self()->rcu[flavor].nesting;
}

void det_rcu_read_lock(enum det_flavor flavor)
{
	struct det_thread *t = det_self();
	struct det_sections *rcu = &t->rcu[flavor];
	if (rcu->nesting++)
		return;
	if (t->reader)
		det_fail("a thread that was to read only holds up grace periods");
	det_write_begins();
	rcu->number++;
	det_tick();
	det_clock_join(&t->clock, &grace_periods[flavor]);
	det_operation_ends();
}

/* Wakes the threads whose grace period waits for the section that the running thread ends. */
static void wake_waiting(enum det_flavor flavor)
{
	const struct det_thread *t = det_self();
	for (int i = 0; i < det.threads; i++) {
		struct det_thread *other = &det.thread[i];
		if (other->wait == DET_FOR_READERS && other->flavor == flavor &&
		    other->sections[det.current] == t->rcu[flavor].number) {
			other->sections[det.current] = 0;
			det_clock_join(&other->sections_ended, &t->clock);
		}
	}
}

void det_rcu_read_unlock(enum det_flavor flavor)
{
	struct det_thread *t = det_self();
	struct det_sections *rcu = &t->rcu[flavor];
	if (rcu->nesting == 0)
		det_fail("the end of a read-side section that was not begun");
	if (rcu->nesting == 1) {
		det_write_begins();
		det_tick();
		rcu->end = t->clock;
		wake_waiting(flavor);
	}
	if (--rcu->nesting == 0)
		det_operation_ends();
}

bool det_rcu_sections_over(const struct det_thread *t)
{
	for (int i = 0; i < det.threads; i++)
		if (t->sections[i])
			return false;
	return true;
}

void det_rcu_synchronize(enum det_flavor flavor)
{
	struct det_thread *t = det_self();
	if (t->rcu[flavor].nesting)
		det_fail("synchronize_rcu inside a read-side section waits for itself");
	det_write_begins();
	det_tick();
	det_clock_join(&grace_periods[flavor], &t->clock);
	memset(&t->sections_ended, 0, sizeof t->sections_ended);
	t->flavor = flavor;
	for (int i = 0; i < DET_THREADS; i++) {
		const struct det_sections *rcu = &det.thread[i].rcu[flavor];
		t->sections[i] = i < det.threads && rcu->nesting ? rcu->number : 0;
		if (i < det.threads)
			det_clock_join(&t->sections_ended, &rcu->end);
	}
	if (!det_rcu_sections_over(t))
		/* no other thread sees the end of the wait, so no switch is needed after it */
		det_wait(DET_FOR_READERS, NULL);
	else
		det_operation_ends();
	det_clock_join(&t->clock, &t->sections_ended);
	det_tick();
}

static void run_callback(void *argument)
{
	const struct callback *c = argument;
	det_rcu_synchronize(c->flavor);
	c->function(c->argument);
}

void det_rcu_call(enum det_flavor flavor, void (*function)(void *), void *argument)
{
	det_write_begins();
	det_tick();
	struct callback *c = &callbacks[det.threads % DET_THREADS];
	*c = (struct callback){ flavor, function, argument };
	det_spawn_callback(run_callback, c, flavor);
	det_operation_ends();
}

bool det_rcu_callbacks_over(enum det_flavor flavor)
{
	for (int i = 0; i < det.threads; i++)
		if (det.thread[i].callback && det.thread[i].callback_of == flavor &&
		    det.thread[i].state != DET_DONE)
			return false;
	return true;
}

void det_rcu_barrier(enum det_flavor flavor)
{
	struct det_thread *t = det_self();
	det_write_begins();
	det_tick();
	t->flavor = flavor;
	if (!det_rcu_callbacks_over(flavor))
		det_wait(DET_FOR_CALLBACKS, NULL);
	for (int i = 0; i < det.threads; i++)
		if (det.thread[i].callback && det.thread[i].callback_of == flavor)
			det_clock_join(&t->clock, &det.thread[i].clock);
	det_tick();
	/* The call counts as a step, so that det detects an endless loop of calls. */
	det_operation_ends();
}
