/* SPDX-License-Identifier: MIT
 * How to fail: return weir__fail(-EINVAL, "capacity %llu: ...", ...). */
#ifndef WEIR_SRC_GROUND_ERROR_H
#define WEIR_SRC_GROUND_ERROR_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/error.h>

/* Set the thread's sentence: escaped by weir_escape(), cut at 511 bytes, never within a character
 * or an escape. Return: @err, a negative errno. */
int weir__fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* Around a weir__fail(): which check it was, of the parameter @thing, and its values as enum
 * weir_error_code lists them; 0 past the last. Return: @err. */
int weir__refused(int err, enum weir_error_code code, const char *thing, double a, double b,
                  double c, double d) __attribute__((cold));

/* As the last of a batch that fails: set what weir_error_taken() returns. Return: @err. */
int64_t weir__stopped(size_t taken, int64_t err) __attribute__((cold));

#endif
