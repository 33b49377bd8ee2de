/* SPDX-License-Identifier: MIT
 * The arguments of futex(2) in a call of syscall(), for files that replace syscall(). */
#ifndef WEIR_TESTS_FUTEX_CALL_H
#define WEIR_TESTS_FUTEX_CALL_H

#include <stdarg.h>
#include <stdint.h>

struct futex_call {
	uint32_t *at;
	int operation;
	uint32_t value;
};

/* Return: the arguments that follow the number of the system call. */
static inline struct futex_call futex_call_take(va_list more)
{
	struct futex_call call;
	call.at = va_arg(more, uint32_t *);
	call.operation = va_arg(more, int);
	call.value = va_arg(more, uint32_t);
	return call;
}

#endif
