/* SPDX-License-Identifier: MIT
 * What every verb owes its caller: how to fail (return weir__fail(-EINVAL, "capacity %llu: ...",
 * ...)), the check of a struct that begins with its own size, and how a long verb asks whether it
 * may go on. */
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

/* Around a weir__fail(): which check it was, of the parameter @thing, and its values as enum
 * weir_error_code lists them; 0 past the last. Return: @err. */
int weir__refused(int err, enum weir_error_code code, const char *thing, double a, double b,
                  double c, double d) __attribute__((cold));
/* What every call answers whose file cannot be opened: weir_error_code WEIR_ERROR_OPEN. */
int weir__unopened(int err, const char *path);

/* As the last of a batch that fails: set what weir_error_taken() returns. Return: @err. */
int64_t weir__stopped(size_t taken, int64_t err) __attribute__((cold));

/* ---- structs that begin with their own size, so that they can grow: an older header's is shorter
 *      ---- */

/* Check a struct's own size: at least that of a size_t, at most @size, and never within a field.
 * @whose: the struct's name for the sentence, such as "weir_stats".
 * Return: 0; -EINVAL the size is wrong, or @sized is NULL. */
int weir__size_check(const void *sized, size_t size, const char *whose);

/* Copy the caller's options, which may come from an older header, over the defaults.
 * @out: @size bytes, set to the defaults.  @options: may be NULL.  @whose: as above.
 * Return: as weir__size_check(). */
int weir__options_copy(void *out, size_t size, const void *options, const char *whose);

/* ---- asking the caller of a long verb whether it may go on ---- */

/* Bytes of bits that are read, merged or counted at most before the caller is asked again: well
 * below a millisecond of work. */
enum { WEIR__PIECE = 1 << 20 };

/* Call the caller's progress function. @unit: of @done and @total, such as "bytes". Return: 0;
 * -ECANCELED the function asked to stop. */
int weir__progress(weir_progress_fn *progress, void *arg, uint64_t done, uint64_t total,
                   const char *unit);

#endif
