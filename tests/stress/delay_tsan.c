/* SPDX-License-Identifier: MIT
 * A replacement for ThreadSanitizer's run time. Each function does what the compiler's
 * instrumentation asks, with an occasional short random delay before or after the access. So
 * threads meet between any two accesses of the library, not only where a test waits.
 *
 * This file has only the operations that the library uses. A missing operation is a link error. */
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include "../tsan_calls.h"

static uint64_t draw(void) /* xorshift64* (Vigna 2016) */
{
	static _Atomic uint64_t threads;
	static _Thread_local uint64_t state;
	if (!state)
		state = (atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1) *
		        UINT64_C(0x9E3779B97F4A7C15);
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * UINT64_C(0x2545F4914F6CDD1D)) >> 32;
}

static inline void pause_once(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#else
	__asm__ volatile("yield");
#endif
}

/* One of 256 waits sleeps for some microseconds, eight yield, and the others spin. No wait changes
 * errno. */
static void wait(uint64_t r)
{
	unsigned how = r % 256, length = (unsigned)(r >> 8);
	if (how == 0)
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0,
		                      &(struct timespec){ .tv_nsec = 1000 + length % 32768 }, NULL);
	else if (how <= 8)
		(void)sched_yield();
	else
		for (length %= 64; length; length--)
			pause_once();
}

/* Wait once in @seldom calls on average. @seldom: a power of two. */
static inline void delay(unsigned seldom)
{
	uint64_t r = draw();
	if (!(r & (seldom - 1)))
		wait(r / seldom);
}

enum { SHARED = 32, PLAIN = 1024 };

/* The caller itself makes the plain access, after this call. */
#define PLAIN_ACCESS(name, bytes, write) \
	void __tsan_##name##bytes(void *address) \
	{ \
		(void)address; \
		delay(PLAIN); \
	}
TSAN_PLAIN(PLAIN_ACCESS, 1)
TSAN_PLAIN(PLAIN_ACCESS, 2)
TSAN_PLAIN(PLAIN_ACCESS, 4)
TSAN_PLAIN(PLAIN_ACCESS, 8)
TSAN_PLAIN(PLAIN_ACCESS, 16)

#define RANGE(name) \
	void __tsan_##name##_range(void *address, size_t bytes) \
	{ \
		(void)address; \
		(void)bytes; \
		delay(PLAIN); \
	}
RANGE(read)
RANGE(write)

/* The builtins need a constant memory order, because they replace a variable order by the strongest
 * order. Consume counts as acquire, as in the compilers. */
#define RMW(bits, type, name, builtin) \
	type __tsan_atomic##bits##_##name(volatile type *a, type operand, int order) \
	{ \
		type old; \
		delay(SHARED); \
		switch (order) { \
		case __ATOMIC_RELAXED: old = builtin(a, operand, __ATOMIC_RELAXED); break; \
		case __ATOMIC_CONSUME: \
		case __ATOMIC_ACQUIRE: old = builtin(a, operand, __ATOMIC_ACQUIRE); break; \
		case __ATOMIC_RELEASE: old = builtin(a, operand, __ATOMIC_RELEASE); break; \
		case __ATOMIC_ACQ_REL: old = builtin(a, operand, __ATOMIC_ACQ_REL); break; \
		default: old = builtin(a, operand, __ATOMIC_SEQ_CST); break; \
		} \
		delay(SHARED); \
		return old; \
	}

/* A compare-exchange keeps the library's memory orders if they are a pair that the library uses:
 * for the marks of owners, for limits and for the stack of kept keys ([OWNED-PART], [PLAIN-FIGURE]
 * and [EARLY-KEYS] in atomic.h), and for words of counters. Any other pair becomes seq_cst. gcc
 * calls the first function, and clang calls the second function. */
#define COMPARE_EXCHANGE(bits, type) \
	int __tsan_atomic##bits##_compare_exchange_strong(volatile type *a, type *expected, \
	                                                  type desired, int success, int failure) \
	{ \
		int done; \
		delay(SHARED); \
		if (failure != __ATOMIC_RELAXED) \
			done = __atomic_compare_exchange_n(a, expected, desired, 0, \
			                                   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
		else if (success == __ATOMIC_ACQUIRE) \
			done = __atomic_compare_exchange_n(a, expected, desired, 0, \
			                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED); \
		else if (success == __ATOMIC_RELEASE) \
			done = __atomic_compare_exchange_n(a, expected, desired, 0, \
			                                   __ATOMIC_RELEASE, __ATOMIC_RELAXED); \
		else if (success == __ATOMIC_RELAXED) \
			done = __atomic_compare_exchange_n(a, expected, desired, 0, \
			                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
		else \
			done = __atomic_compare_exchange_n(a, expected, desired, 0, \
			                                   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
		delay(SHARED); \
		return done; \
	} \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type expected, \
	                                                type desired, int success, int failure) \
	{ \
		(void)__tsan_atomic##bits##_compare_exchange_strong(a, &expected, desired, \
		                                                    success, failure); \
		return expected; \
	}
COMPARE_EXCHANGE(32, uint32_t)
COMPARE_EXCHANGE(64, uint64_t)

#define ATOMIC(bits, type) \
	type __tsan_atomic##bits##_load(const volatile type *a, int order) \
	{ \
		type value; \
		delay(SHARED); \
		switch (order) { \
		case __ATOMIC_RELAXED: value = __atomic_load_n(a, __ATOMIC_RELAXED); break; \
		case __ATOMIC_CONSUME: \
		case __ATOMIC_ACQUIRE: value = __atomic_load_n(a, __ATOMIC_ACQUIRE); break; \
		default: value = __atomic_load_n(a, __ATOMIC_SEQ_CST); break; \
		} \
		delay(SHARED); \
		return value; \
	} \
	void __tsan_atomic##bits##_store(volatile type *a, type value, int order) \
	{ \
		delay(SHARED); \
		switch (order) { \
		case __ATOMIC_RELAXED: __atomic_store_n(a, value, __ATOMIC_RELAXED); break; \
		case __ATOMIC_RELEASE: __atomic_store_n(a, value, __ATOMIC_RELEASE); break; \
		default: __atomic_store_n(a, value, __ATOMIC_SEQ_CST); break; \
		} \
		delay(SHARED); \
	} \
	RMW(bits, type, exchange, __atomic_exchange_n) \
	RMW(bits, type, fetch_add, __atomic_fetch_add) \
	RMW(bits, type, fetch_sub, __atomic_fetch_sub) \
	RMW(bits, type, fetch_or, __atomic_fetch_or)
ATOMIC(8, uint8_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
