/* SPDX-License-Identifier: MIT
 * det runs a piece of threaded code through its interleavings, and through the stale values that
 * C11 lets a load return.
 *
 * Test threads are coroutines of one system thread. The code under test is compiled with
 * -fsanitize=thread and linked with det_tsan.c instead of the sanitizer's run time. So every atomic
 * operation, with its memory order, and every plain access goes to det, and the tested code is the
 * library as it ships. A failure prints a schedule, which det_options.replay runs again.
 *
 * Reads. Each location keeps its history of stores, each with the clock of its thread. A load may
 * return an old store, unless a later store to the location happens before the load, or coherence
 * forbids the old store.
 *
 * Switches. A thread can be preempted right after a store or a read-modify-write. A preemption
 * before a load would add nothing: a value that the load could have read earlier can still be read,
 * as a stale value. So a load belongs to the same step as the thread's next store, and the search
 * stays complete with far fewer executions. test_det_orders.c compares this search with a search
 * that also switches before loads (every_step).
 *
 * Limits. A location's modification order is the order of execution. No load is performed before an
 * earlier store of its thread (no load buffering). There are at most DET_THREADS threads. Data
 * races are found between accesses of the same address, but not between accesses that only
 * overlap. */
#ifndef WEIR_TESTS_SCHEDULE_DET_H
#define WEIR_TESTS_SCHEDULE_DET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DET_THREADS = 6 }; /* the largest number of threads, including the thread of the body */

enum det_order { DET_RELAXED, DET_ACQUIRE, DET_RELEASE, DET_ACQ_REL, DET_SEQ_CST };

enum det_strategy {
	/* every schedule with at most @preemptions preemptions (Musuvathi, Qadeer 2007), and every
	 * stale read */
	DET_DFS,
	DET_RANDOM, /* makes every choice at random */
	/* gives threads random priorities, and changes priorities at depth - 1 random steps
	 * (Burckhardt et al. 2010) */
	DET_PCT,
};

struct det_options {
	enum det_strategy strategy;
	int preemptions;     /* DFS: the largest number of preemptions in an execution */
	int depth;           /* PCT: the depth d, at most 16 */
	int stale;           /* the largest number of stale reads in an execution; < 0: no limit */
	bool every_step;     /* allow a switch before each operation, loads included */
	/* NULL, or a function that returns the bits at this address that matter to the running
	 * thread. A load does not choose between values that differ only in other bits, which
	 * narrows the search. With NULL all bits matter. */
	uint64_t (*relevant)(const volatile void *address);
	/* Thread-local memory. det ignores plain accesses to it, because the coroutines share the
	 * memory that would be private to real threads. */
	const void *local;
	size_t local_bytes;
	uint64_t seed;
	uint64_t executions; /* the largest number of executions in a run; 0: no limit */
	const char *replay;  /* a schedule that failed, or NULL */
};

struct det_result {
	uint64_t executions;
	uint64_t steps;
	uint64_t forgotten;  /* the number of stores dropped from full histories */
	bool failed;
	bool complete;       /* DFS: the search has ended, and no store was forgotten */
	char why[200];
	char schedule[4000];
};

/* Runs executions until the strategy ends or an execution fails. Each execution runs @body once, as
 * thread 0. @body sets up, spawns threads, joins them and checks. */
struct det_result det_run(const struct det_options *options, void (*body)(void));
bool det_running(void);

void det_spawn(void (*run)(void *), void *argument);
/* Spawns a thread that only loads; a store by this thread is a failure. A depth-first search runs
 * the thread last. The thread can then still read every value that it could have read earlier. */
void det_spawn_reader(void (*run)(void *), void *argument);
void det_join_all(void);
int det_thread(void); /* the running thread; the body is 0, and spawned threads count from 1 */

void det_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
#define det_assert(condition) \
	do { \
		if (!(condition)) \
			det_fail("%s:%d: %s", __FILE__, __LINE__, #condition); \
	} while (0)

uint64_t det_load(const volatile void *address, unsigned bytes, enum det_order order);
void det_store(volatile void *address, unsigned bytes, uint64_t value, enum det_order order);
enum det_operation { DET_EXCHANGE, DET_ADD, DET_SUB, DET_OR, DET_AND, DET_XOR };
uint64_t det_rmw(volatile void *address, unsigned bytes, enum det_operation operation,
                 uint64_t operand, enum det_order order);
bool det_compare_exchange(volatile void *address, unsigned bytes, uint64_t *expected,
                          uint64_t desired, enum det_order success, enum det_order failure,
                          bool weak);
void det_fence(enum det_order order);
/* Checks a plain access. A race is a failure. */
void det_plain(const volatile void *address, bool write);
void det_plain_range(const volatile void *address, size_t bytes, bool write);
/* Allocates memory in which det detects use after free, double free and leaks. det frees all such
 * memory at the end of an execution. */
void *det_allocate(size_t bytes, size_t alignment);
void det_free(void *block);
size_t det_allocated(void); /* number of blocks not yet freed */
/* Return: the size of the live block around an address, rounded up to cells of 16 bytes, or 0 if no
 * live block is there. */
size_t det_block_bytes(const volatile void *address);

void det_lock(const void *mutex);
void det_unlock(const void *mutex);

/* Sleeps like futex(2) until det_wake() is called for the address. Return: false at once if the 32
 * bits at the address differ from @value. A wake does not order memory accesses, so a sleeper that
 * needs an order must load with acquire order afterwards. */
bool det_sleep(const void *address, uint32_t value);
void det_wake(const void *address);

/* Read-copy-update. A read-side section delays only grace periods of its own flavor. */
enum det_flavor { DET_BP, DET_MEMB, DET_QSBR, DET_FLAVORS };
void det_rcu_read_lock(enum det_flavor flavor);
void det_rcu_read_unlock(enum det_flavor flavor);
int det_rcu_nesting(enum det_flavor flavor); /* nesting depth of the running thread's sections */
void det_rcu_synchronize(enum det_flavor flavor);
/* Calls @function after a grace period, in a new thread. */
void det_rcu_call(enum det_flavor flavor, void (*function)(void *), void *argument);
/* Waits until all callbacks of this flavor have run. */
void det_rcu_barrier(enum det_flavor flavor);

/* For use in a loop that waits for another thread. Returns after every other thread that could run
 * has made a step, ended or begun to wait. Later loads then see newer values, if there are any. */
void det_pause(void);

#endif
