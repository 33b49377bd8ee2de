/* SPDX-License-Identifier: MIT
 * The state that the parts of det share: the threads, their clocks, and the current execution. */
#ifndef WEIR_TESTS_SCHEDULE_DET_INTERNAL_H
#define WEIR_TESTS_SCHEDULE_DET_INTERNAL_H

#include <setjmp.h>
#include <ucontext.h>
#include "det.h"

enum {
	DET_STEPS = 20000, /* a longer execution counts as endless */
	DET_STACK_BYTES = 128 << 10,
};

/* A vector clock: for each thread, the last step of that thread that the clock's owner knows. */
struct det_clock {
	uint32_t of[DET_THREADS];
};

enum det_state { DET_NONE, DET_NEW, DET_STARTED, DET_DONE };
enum det_wait { DET_NOT, DET_FOR_MUTEX, DET_FOR_READERS, DET_FOR_CALLBACKS, DET_FOR_ALL,
                DET_FOR_OTHERS, DET_FOR_WAKE };

/* A thread's read-side sections of one flavor of RCU. */
struct det_sections {
	int nesting;
	uint32_t number;      /* number of the current section, or of the last section */
	struct det_clock end; /* clock at the end of the last section */
};

struct det_thread {
	/* the coroutine */
	jmp_buf resume;
	ucontext_t fresh;
	char *stack;
	bool parked; /* the stack waits in the trampoline for the function of the next execution */
	void (*run)(void *);
	void *argument;
	enum det_state state;
	bool reader;
	int priority;
	/* the state of a wait */
	enum det_wait wait;
	const void *mutex; /* the mutex or the futex address that the thread waits for */
	bool woken;
	/* A store that the thread first read at or before this clock cannot be read again if there
	 * is a newer store. */
	uint32_t paused_clock;
	/* for each other thread, the clock that it must reach; 0: do not wait for it */
	uint32_t paused_at[DET_THREADS];
	enum det_flavor flavor;          /* flavor of the awaited grace period or callbacks */
	/* for each other thread, the number of the read-side section that must end; 0: none */
	uint32_t sections[DET_THREADS];
	/* joined clocks at the ends of the awaited sections and of all earlier sections */
	struct det_clock sections_ended;
	struct det_clock clock;         /* the steps that the thread knows */
	struct det_clock release_fence; /* @clock at the thread's last release fence */
	struct det_clock acquire_fence; /* the clock that an acquire fence would join */
	bool freed; /* the thread has freed memory since its last store: see det_heap.c */
	/* RCU */
	struct det_sections rcu[DET_FLAVORS];
	bool callback; /* the thread runs a callback of det_rcu_call() */
	enum det_flavor callback_of;
};

struct det {
	struct det_options options;
	struct det_result result;
	struct det_thread thread[DET_THREADS];
	int threads;
	int unfinished;
	int current;
	uint32_t execution;
	uint64_t step;
	jmp_buf scheduler;
	bool running;
};
extern struct det det;

static inline struct det_thread *det_self(void)
{
	return &det.thread[det.current];
}

static inline void det_clock_join(struct det_clock *into, const struct det_clock *from)
{
	for (int i = 0; i < DET_THREADS; i++)
		if (from->of[i] > into->of[i])
			into->of[i] = from->of[i];
}

/* Return: true if an address is on the running thread's own stack, which is private. */
static inline bool det_on_stack(const volatile void *address)
{
	return (uintptr_t)address - (uintptr_t)det_self()->stack < DET_STACK_BYTES;
}

/* Advances the running thread's own clock. */
static inline uint32_t det_tick(void)
{
	return ++det_self()->clock.of[det.current];
}

/* Return: true if the running thread knows step @when of @thread. */
static inline bool det_knows(int thread, uint32_t when)
{
	return det_self()->clock.of[thread] >= when;
}

/* Values for the jump from a thread back to the scheduler. */
enum { DET_ENDED = 1, DET_GIVEN_UP };
/* det_choose.c */
enum det_choice { DET_WHICH_THREAD, DET_WHICH_VALUE };
int det_choose(int candidates, enum det_choice what);
int det_choose_stale(int candidates);
int det_choose_thread(void); /* -1 if all threads have ended */
void det_choose_begin(void);
void det_choose_replay(const char *schedule);
bool det_choose_next(void); /* DFS: false after the last schedule */
void det_choose_print(char *out, size_t bytes);
uint64_t det_random(void);
void det_random_seed(uint64_t seed);
/* det_thread.c */
void det_threads_begin(void);
void det_threads_abandon(void);
void det_resume(int thread) __attribute__((noreturn));
bool det_wait_over(int thread);
void det_wait(enum det_wait wait, const void *mutex);
void det_spawn_callback(void (*run)(void *), void *argument, enum det_flavor flavor);
void det_operation_begins(void);
void det_write_begins(void); /* call before an operation that other threads can see */
void det_operation_ends(void);
/* det_heap.c */
void det_heap_begin(void);
void det_heap_check(uintptr_t address);
/* det_memory.c, det_plain.c, det_sync.c, det_rcu.c */
void det_memory_begin(void);
void det_memory_freed(uintptr_t address, size_t bytes);
void det_sync_begin(void);
bool det_mutex_free(const void *mutex);
void det_rcu_begin(void);
bool det_rcu_sections_over(const struct det_thread *t);
bool det_rcu_callbacks_over(enum det_flavor flavor);

static inline bool det_runnable(int thread)
{
	const struct det_thread *t = &det.thread[thread];
	return (t->state == DET_STARTED || t->state == DET_NEW) &&
	       (t->wait == DET_NOT || det_wait_over(thread));
}

#endif
