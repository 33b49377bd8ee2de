/* SPDX-License-Identifier: MIT
 * Errors: a negative errno from the call, and a sentence that names the thing and the value. */
#ifndef WEIR_ERROR_H
#define WEIR_ERROR_H

#include <weir/export.h>

WEIR_BEGIN_DECLS

/**
 * The short text of an error code.
 * @err: what a weir call returned: 0 or a negative errno (a positive one is taken as well).
 * Return: a static string, never NULL.
 * Errors: an unknown code has the text "unknown error".
 * Threads: any.  Progress: wait-free.
 */
WEIR_API const char *weir_strerror(int err);

/**
 * The symbolic name of an error code, such as "EINVAL".
 * @err: as for weir_strerror().
 * Return: a static string, "E?" for an unknown code.
 * Threads: any.  Progress: wait-free.
 */
WEIR_API const char *weir_error_name(int err);

/**
 * The full sentence about this thread's last failed weir call: which parameter, file or block,
 * which value, what is allowed.
 * Return: a string owned by the thread, never NULL, "" before the first failure. Valid until the
 *   thread's next weir call: one that fails sets it, and so may one that did without what failed.
 * Threads: each thread sees its own.  Progress: wait-free.
 */
WEIR_API const char *weir_error_detail(void);

WEIR_END_DECLS

#endif
