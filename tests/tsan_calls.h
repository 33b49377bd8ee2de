/* SPDX-License-Identifier: MIT
 * The calls that a compiler inserts with -fsanitize=thread, for a file that replaces
 * ThreadSanitizer's run time. This header defines the calls that need not do anything, and lists
 * the calls for plain accesses, which that file defines. A program includes this header once. */
#ifndef WEIR_TESTS_TSAN_CALLS_H
#define WEIR_TESTS_TSAN_CALLS_H

/* The compiler calls these functions by name, so no header declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void)
{
}

/* With these calls the library tells ThreadSanitizer the order that liburcu makes between threads,
 * because ThreadSanitizer does not see that order. A program with this header runs liburcu itself,
 * or the grace periods of schedule/det.h, so these functions must add no order. */
void __tsan_acquire(void *address)
{
	(void)address;
}

void __tsan_release(void *address)
{
	(void)address;
}

/* Expands ACCESS(name, bytes, write) for each sort of plain access of @bytes bytes. */
#define TSAN_PLAIN(ACCESS, bytes) \
	ACCESS(read, bytes, false) \
	ACCESS(write, bytes, true) \
	ACCESS(unaligned_read, bytes, false) \
	ACCESS(unaligned_write, bytes, true) \
	ACCESS(volatile_read, bytes, false) \
	ACCESS(volatile_write, bytes, true)

#endif
