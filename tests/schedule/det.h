/* SPDX-License-Identifier: MIT
 * det: runs a piece of threaded code through its interleavings, and through the stale values that
 * C11 lets a load return.
 *
 * Test threads are coroutines of one system thread. Code compiled with -fsanitize=thread and linked
 * with det_tsan.c instead of the sanitizer's run time hands every atomic operation (with its memory
 * order) and every plain access to det, so what runs is the library as it ships. Failures print a
 * schedule, which det_options.replay runs again.
 *
 * Reads. A store is kept in its location's history with the clock of its thread; a load may return
 * any store that neither happens-before (through another store to the location) nor coherence rules
 * out.
 * Switches. A thread can be preempted right after a store or a read-modify-write. A load needs no
 * such point: a value that it could have read earlier it can still read, as a stale value. So a
 * load sticks to the next store of its thread, and the search stays complete with far fewer
 * executions. test_det_orders.c compares both ways (every_step).
 *
 * Limits: a location's modification order is the order of execution; no load is performed before an
 * earlier store of its thread (no load buffering); DET_THREADS threads; data races are found
 * between accesses of the same address, not overlapping ones.
 */
#ifndef WEIR_TESTS_SCHEDULE_DET_H
#define WEIR_TESTS_SCHEDULE_DET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DET_THREADS = 6 }; /* including the body's own */

enum det_order { DET_RELAXED, DET_ACQUIRE, DET_RELEASE, DET_ACQ_REL, DET_SEQ_CST };

enum det_strategy {
	/* every schedule with at most @preemptions preemptions (Musuvathi, Qadeer 2007), every
	 * stale read */
	DET_DFS,
	DET_RANDOM, /* every choice at random */
	/* random priorities, changed at depth - 1 random steps (Burckhardt et al. 2010) */
	DET_PCT,
};

struct det_options {
	enum det_strategy strategy;
	int preemptions;     /* DFS: at most this many in an execution */
	int depth;           /* PCT: d, at most 16 */
	int stale;           /* at most this many stale reads in an execution; negative: no bound */
	bool every_step;     /* a switch is possible before each operation, loads too */
	/* The bits at this address that matter to the running thread, as the test knows. Values
	 * that differ only in other bits are one choice for a load, which narrows the search. NULL:
	 * all bits. */
	uint64_t (*relevant)(const volatile void *address);
	/* Thread-local memory. The coroutines share the system thread's, so det ignores plain
	 * accesses to it. */
	const void *local;
	size_t local_bytes;
	uint64_t seed;
	uint64_t executions; /* at most; 0: no bound */
	const char *replay;  /* a schedule that failed, or NULL */
};

struct det_result {
	uint64_t executions;
	uint64_t steps;
	uint64_t forgotten;  /* stores that left a full history */
	bool failed;
	bool complete;       /* DFS: the search is through, and no store was forgotten */
	char why[200];
	char schedule[4000];
};

/* The body sets up, spawns threads, joins them and checks. Each execution runs it once, as thread
 * 0. */
struct det_result det_run(const struct det_options *options, void (*body)(void));
bool det_running(void);

void det_spawn(void (*run)(void *), void *argument);
/* A thread that only loads. A depth-first search runs it last, because it can still read whatever
 * it could have read before. A store by it is a failure. */
void det_spawn_reader(void (*run)(void *), void *argument);
void det_join_all(void);
int det_thread(void); /* the running thread: the body is 0, those it spawns count from 1 */

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
/* A plain access. A race is a failure. */
void det_plain(const volatile void *address, bool write);
void det_plain_range(const volatile void *address, size_t bytes, bool write);
/* Memory that detects use after free, double free and leaks. The end of an execution releases all
 * of it. */
void *det_allocate(size_t bytes, size_t alignment);
void det_free(void *block);
size_t det_allocated(void); /* blocks not yet freed */
/* The size of the live block around this address, in whole cells of 16; 0: no live block. */
size_t det_block_bytes(const volatile void *address);

void det_lock(const void *mutex);
void det_unlock(const void *mutex);

/* As futex(2): sleep until a wake at that address. If its 32 bits differ from @value, return false
 * at once. A wake gives no order; only what the sleeper reads does. */
bool det_sleep(const void *address, uint32_t value);
void det_wake(const void *address);

/* Read-copy-update. A section delays only the grace periods of its own flavor. */
enum det_flavor { DET_BP, DET_MEMB, DET_QSBR, DET_FLAVORS };
void det_rcu_read_lock(enum det_flavor flavor);
void det_rcu_read_unlock(enum det_flavor flavor);
int det_rcu_nesting(enum det_flavor flavor); /* of the running thread's sections */
void det_rcu_synchronize(enum det_flavor flavor);
/* Call @function after a grace period, in a thread of its own. */
void det_rcu_call(enum det_flavor flavor, void (*function)(void *), void *argument);
/* Wait until all callbacks of this flavor have run. */
void det_rcu_barrier(enum det_flavor flavor);

/* For a loop that waits for another thread. It returns once every other thread has moved; later
 * loads then see newer values than before, if there are any. */
void det_pause(void);

#endif
