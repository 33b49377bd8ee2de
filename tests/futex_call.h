/* SPDX-License-Identifier: MIT
 * futex(2) as src/ground/threads.c calls it through syscall(), for files that replace syscall(). */
#ifndef WEIR_TESTS_FUTEX_CALL_H
#define WEIR_TESTS_FUTEX_CALL_H

#include <stdarg.h>
#include <stdint.h>

struct futex_call {
	uint32_t *at;
	int operation;
	uint32_t value;
};

/* The arguments after the number of the call. */
static inline struct futex_call futex_call_take(va_list more)
{
	struct futex_call call;
	call.at = va_arg(more, uint32_t *);
	call.operation = va_arg(more, int);
	call.value = va_arg(more, uint32_t);
	return call;
}

#endif
