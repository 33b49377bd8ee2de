/* SPDX-License-Identifier: MIT
 * det: threads as coroutines. A stack is allocated once and kept for all executions. Between two
 * executions the stack waits in trampoline(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "det_internal.h"

static void trampoline(void)
{
	for (;;) {
		struct det_thread *t = det_self();
		t->parked = false;
		t->run(t->argument);
		t = det_self();
		det_tick();
		t->state = DET_DONE;
		det.unfinished--;
		t->parked = true;
		if (_setjmp(t->resume) == 0) {
			int next = det_choose_thread();
			if (next >= 0)
				det_resume(next);
			_longjmp(det.scheduler, DET_ENDED);
		}
	}
}

void det_resume(int thread)
{
	struct det_thread *t = &det.thread[thread];
	det.current = thread;
	if (t->state == DET_NEW && !t->parked) {
		t->state = DET_STARTED;
		getcontext(&t->fresh);
		t->fresh.uc_stack.ss_sp = t->stack;
		t->fresh.uc_stack.ss_size = DET_STACK_BYTES;
		t->fresh.uc_link = NULL;
		makecontext(&t->fresh, trampoline, 0);
		setcontext(&t->fresh);
	}
	t->state = DET_STARTED;
	_longjmp(t->resume, 1);
}

static void step(void)
{
	det.result.steps++;
	if (++det.step > DET_STEPS)
		det_fail("no end after %d steps", DET_STEPS);
	int next = det_choose_thread();
	if (next == det.current)
		return;
	if (_setjmp(det_self()->resume) == 0)
		det_resume(next);
}

void det_operation_begins(void)
{
	if (det.options.every_step)
		step();
}

/* Lets det switch threads if this thread has freed memory, so that another thread may access the
 * freed memory. With every_step, always lets det switch. */
void det_write_begins(void)
{
	if (det.options.every_step || det_self()->freed) {
		det_self()->freed = false;
		step();
	}
}

void det_operation_ends(void)
{
	if (!det.options.every_step)
		step();
}

void det_wait(enum det_wait wait, const void *mutex)
{
	struct det_thread *t = det_self();
	t->wait = wait;
	t->mutex = mutex;
	step();
	det_self()->wait = DET_NOT;
}

/* Return: true if every other thread that could run has moved, ended or begun to wait since this
 * thread paused. */
static bool others_moved(int thread)
{
	const struct det_thread *t = &det.thread[thread];
	for (int i = 0; i < det.threads; i++)
		if (t->paused_at[i] && det.thread[i].clock.of[i] < t->paused_at[i] &&
		    det.thread[i].wait == DET_NOT && det.thread[i].state != DET_DONE)
			return false;
	return true;
}

bool det_wait_over(int thread)
{
	const struct det_thread *t = &det.thread[thread];
	switch (t->wait) {
	case DET_NOT:
		return true;
	case DET_FOR_MUTEX:
		return det_mutex_free(t->mutex);
	case DET_FOR_READERS:
		return det_rcu_sections_over(t);
	case DET_FOR_CALLBACKS:
		return det_rcu_callbacks_over(t->flavor);
	case DET_FOR_ALL:
		return det.unfinished == 1;
	case DET_FOR_OTHERS:
		return others_moved(thread);
	case DET_FOR_WAKE:
		return t->woken;
	}
	return false;
}

/* Waits until every other thread that could run has moved. Otherwise a search would follow one
 * waiting loop for ever. */
void det_pause(void)
{
	struct det_thread *t = det_self();
	t->paused_clock = det_tick();
	for (int i = 0; i < det.threads; i++) {
		const struct det_thread *other = &det.thread[i];
		bool could_run = i != det.current && other->state != DET_DONE &&
		                 other->wait == DET_NOT;
		t->paused_at[i] = could_run ? other->clock.of[i] + 1 : 0;
	}
	det_wait(DET_FOR_OTHERS, NULL);
}

static void spawn(void (*run)(void *), void *argument, bool reader)
{
	if (det.threads == DET_THREADS) {
		fprintf(stderr, "det: at most %d threads\n", DET_THREADS);
		abort();
	}
	struct det_thread *t = &det.thread[det.threads];
	const struct det_thread *parent = det_self();
	char *stack = t->stack;
	bool parked = t->parked;
	if (!stack)
		stack = aligned_alloc(64, DET_STACK_BYTES);
	/* Keep the jump buffers, because det resumes a parked stack through them. */
	memset(&t->stack, 0, sizeof *t - offsetof(struct det_thread, stack));
	t->stack = stack;
	t->parked = parked;
	t->run = run;
	t->argument = argument;
	t->reader = reader;
	t->state = DET_NEW;
	t->priority = (int)(det_random() % 1000);
	t->clock = parent->clock; /* the body's own thread is its own parent */
	det.threads++;
	det.unfinished++;
	det_tick();
}

void det_spawn(void (*run)(void *), void *argument)
{
	spawn(run, argument, false);
}

void det_spawn_reader(void (*run)(void *), void *argument)
{
	spawn(run, argument, true);
}

void det_spawn_callback(void (*run)(void *), void *argument, enum det_flavor flavor)
{
	spawn(run, argument, false);
	det.thread[det.threads - 1].callback = true;
	det.thread[det.threads - 1].callback_of = flavor;
}

void det_join_all(void)
{
	det_wait(DET_FOR_ALL, NULL);
	for (int i = 0; i < det.threads; i++)
		det_clock_join(&det_self()->clock, &det.thread[i].clock);
	det_tick();
}

int det_thread(void)
{
	return det.current;
}

void det_threads_begin(void)
{
	for (int i = 0; i < DET_THREADS; i++)
		det.thread[i].state = DET_NONE;
	det.threads = det.unfinished = 0;
	det.current = 0;
}

/* Forgets the stacks of an abandoned execution. An unfinished stack is in the middle of a function,
 * so the next execution cannot resume it. */
void det_threads_abandon(void)
{
	for (int i = 0; i < det.threads; i++)
		if (det.thread[i].state == DET_STARTED)
			det.thread[i].parked = false;
}
