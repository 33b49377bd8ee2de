/* SPDX-License-Identifier: MIT
 * The calls that a compiler inserts with -fsanitize=thread, for a file that takes the place of
 * ThreadSanitizer's run time: those that need not do anything, and the names of the plain
 * accesses, which that file defines. Included once in a program. */
#ifndef WEIR_TESTS_TSAN_CALLS_H
#define WEIR_TESTS_TSAN_CALLS_H

/* The compiler makes the calls by name; there is no header to declare them. */
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

/* The library's hints about liburcu, whose order ThreadSanitizer does not see. A program with
 * liburcu has that order anyway, and det's own grace periods give it: so these must add none. */
void __tsan_acquire(void *address)
{
	(void)address;
}

void __tsan_release(void *address)
{
	(void)address;
}

/* ACCESS(name, bytes, write) for each plain access of so many bytes. */
#define TSAN_PLAIN(ACCESS, bytes) \
	ACCESS(read, bytes, false) \
	ACCESS(write, bytes, true) \
	ACCESS(unaligned_read, bytes, false) \
	ACCESS(unaligned_write, bytes, true) \
	ACCESS(volatile_read, bytes, false) \
	ACCESS(volatile_write, bytes, true)

#endif
