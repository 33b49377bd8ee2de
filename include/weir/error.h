/* SPDX-License-Identifier: MIT
 * Errors: a call that fails returns a negative errno and sets a sentence about it. */
#ifndef WEIR_ERROR_H
#define WEIR_ERROR_H

#include <weir/export.h>

WEIR_BEGIN_DECLS

/**
 * The short text of an error code.
 * @err: 0 or a negative errno, as a weir call returned it; a positive errno serves as well.
 * Return: a static string, never NULL; "unknown error" for an unknown code.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_strerror(int err);

/**
 * The symbolic name of an error code, such as "EINVAL".
 * @err: as for weir_strerror().
 * Return: a static string, never NULL; "E?" for an unknown code.
 * Errors: none.  Threads: any.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_error_name(int err);

/**
 * The sentence about this thread's last failed weir call: which parameter, file or shard, which
 * value, what is allowed.
 * Return: a string owned by the thread, never NULL; "" before the first failure. It is valid until
 *   the thread's next weir call. A call that succeeds may change it too, if it met a failure that
 *   did not stop it.
 * Errors: none.  Threads: each thread sees its own.  Progress: wait-free.  Cost: nanoseconds.
 */
WEIR_API const char *weir_error_detail(void);

WEIR_END_DECLS

#endif
