/* SPDX-License-Identifier: MIT
 * Replaces ThreadSanitizer's run time. While det runs, the calls that the compiler inserts go to
 * det. Outside of det_run() the calls access memory directly. */
#include "../tsan_calls.h"
#include "det_internal.h"

static inline bool is_shared(const volatile void *address)
{
	return det.running && !det_on_stack(address);
}

static inline void plain(const volatile void *address, bool write)
{
	if (is_shared(address))
		det_plain(address, write);
}

#define PLAIN(name, bytes, write) \
	void __tsan_##name##bytes(void *address) { plain(address, write); }
TSAN_PLAIN(PLAIN, 1)
TSAN_PLAIN(PLAIN, 2)
TSAN_PLAIN(PLAIN, 4)
TSAN_PLAIN(PLAIN, 8)

#define PLAIN_TWICE(name, bytes, write) \
	void __tsan_##name##bytes(void *address) \
	{ \
		plain(address, write); \
		plain((char *)address + 8, write); \
	}
TSAN_PLAIN(PLAIN_TWICE, 16)

void __tsan_read_range(void *address, size_t bytes)
{
	if (is_shared(address))
		det_plain_range(address, bytes, false);
}

void __tsan_write_range(void *address, size_t bytes)
{
	if (is_shared(address))
		det_plain_range(address, bytes, true);
}

/* Indexed by the compilers' numbers of memory orders. Consume counts as acquire. */
static const enum det_order order_of[] = { DET_RELAXED, DET_ACQUIRE, DET_ACQUIRE,
                                           DET_RELEASE, DET_ACQ_REL, DET_SEQ_CST };

#define RMW(bits, type, name, operation, result) \
	type __tsan_atomic##bits##_##name(volatile type *a, type operand, int order) \
	{ \
		type old = *a; \
		if (det.running) \
			return (type)det_rmw(a, sizeof old, operation, operand, order_of[order]); \
		*a = (type)(result); \
		return old; \
	}

#define ATOMIC(bits, type) \
	type __tsan_atomic##bits##_load(const volatile type *a, int order) \
	{ \
		return det.running ? (type)det_load(a, sizeof *a, order_of[order]) : *a; \
	} \
	void __tsan_atomic##bits##_store(volatile type *a, type value, int order) \
	{ \
		if (det.running) \
			det_store(a, sizeof *a, value, order_of[order]); \
		else \
			*a = value; \
	} \
	RMW(bits, type, exchange, DET_EXCHANGE, operand) \
	RMW(bits, type, fetch_add, DET_ADD, old + operand) \
	RMW(bits, type, fetch_sub, DET_SUB, old - operand) \
	RMW(bits, type, fetch_or, DET_OR, old | operand) \
	RMW(bits, type, fetch_and, DET_AND, old & operand) \
	RMW(bits, type, fetch_xor, DET_XOR, old ^ operand) \
	static int compare_exchange##bits(volatile type *a, type *expected, type desired, \
	                                  int success, int failure, bool weak) \
	{ \
		uint64_t old = *expected; \
		bool done = *a == *expected; \
		if (det.running) \
			done = det_compare_exchange(a, sizeof *a, &old, desired, \
			                            order_of[success], order_of[failure], weak); \
		else if (done) \
			*a = desired; \
		else \
			old = *a; \
		*expected = (type)old; \
		return done; \
	} \
	int __tsan_atomic##bits##_compare_exchange_strong(volatile type *a, type *expected, \
	                                                  type desired, int success, int failure) \
	{ \
		return compare_exchange##bits(a, expected, desired, success, failure, false); \
	} \
	int __tsan_atomic##bits##_compare_exchange_weak(volatile type *a, type *expected, \
	                                                type desired, int success, int failure) \
	{ \
		return compare_exchange##bits(a, expected, desired, success, failure, true); \
	} \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type expected, \
	                                                type desired, int success, int failure) \
	{ \
		compare_exchange##bits(a, &expected, desired, success, failure, false); \
		return expected; \
	}
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order)
{
	if (det.running)
		det_fence(order_of[order]);
}

void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}
