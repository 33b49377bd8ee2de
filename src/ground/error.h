/* SPDX-License-Identifier: MIT
 * How a verb reports failure (return weir__fail(-EINVAL, "capacity %llu: ...", ...)), how it checks
 * a struct that begins with its own size, and how a long verb asks its caller whether to
 * continue. */
#ifndef WEIR_SRC_GROUND_ERROR_H
#define WEIR_SRC_GROUND_ERROR_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/error.h>
#include <weir/image.h>

/* Set the thread's sentence: escaped by weir_escape(), cut at 511 bytes, never within a character
 * or an escape. Return: @err, a negative errno. */
int weir__fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* Wraps weir__fail(): records the check that failed, the parameter @thing, and the values that enum
 * weir_error_code lists for @code, 0 past the last. Return: @err. */
int weir__refused(int err, enum weir_error_code code, const char *thing, double a, double b,
                  double c, double d) __attribute__((cold));
/* Reports that a file cannot be opened: code WEIR_ERROR_OPEN. Return: @err. */
int weir__unopened(int err, const char *path);

/* Ends a batch that failed: sets the number that weir_error_taken() returns. Return: @err. */
int64_t weir__stopped(size_t taken, int64_t err) __attribute__((cold));

/* ---- structs that begin with their own size, so that they can grow: an older header's are shorter
 *      ---- */

/* Check a struct's own size: at least that of a size_t, at most @size, and never ending within a
 * field.
 * @whose: the struct's name for the sentence, such as "weir_stats".
 * Return: 0; -EINVAL the size is wrong, or @sized is NULL. */
int weir__size_check(const void *sized, size_t size, const char *whose);

/* Copy the caller's options, which may come from an older header, over the defaults.
 * @out: @size bytes, set to the defaults.  @options: may be NULL.  @whose: as above.
 * Return: as weir__size_check(). */
int weir__options_copy(void *out, size_t size, const void *options, const char *whose);

/* ---- asking the caller of a long verb whether to continue ---- */

/* The most bytes of bits to read, merge or count before asking the caller again: well below a
 * millisecond of work. */
enum { WEIR__PIECE = 1 << 20 };

/* Call the caller's progress function. @unit: of @done and @total, such as "bytes". Return: 0;
 * -ECANCELED the function asked to stop. */
int weir__progress(weir_progress_fn *progress, void *arg, uint64_t done, uint64_t total,
                   const char *unit);

#endif
