/* SPDX-License-Identifier: MIT
 * How a function records an error (return weir__fail(-EINVAL, "capacity %llu: ...", ...)), checks a
 * struct that begins with its own size, and asks its caller whether to continue a long call. */
#ifndef WEIR_SRC_GROUND_ERROR_H
#define WEIR_SRC_GROUND_ERROR_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <weir/error.h>
#include <weir/image.h>

/* Set the calling thread's error sentence. The sentence is escaped by weir_escape() and cut at 511
 * bytes, between two characters or escapes. Return: @err, a negative errno. */
int weir__fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* Record details of the error that weir__fail() has just returned as @err: the failed check @code,
 * the parameter @thing, and the values that enum weir_error_code lists for @code (0 for each value
 * not listed). Return: @err. */
int weir__refused(int err, enum weir_error_code code, const char *thing, double a, double b,
                  double c, double d) __attribute__((cold));
/* Report that a file cannot be opened (WEIR_ERROR_OPEN). Return: @err. */
int weir__unopened(int err, const char *path);

/* Record how many keys a failed batch completed, for weir_error_taken(). Return: @err. */
int64_t weir__stopped(size_t taken, int64_t err) __attribute__((cold));

/* ---- structs that begin with their own size, so that later versions can add fields ---- */

/* Check the size at the start of a caller's struct: at least sizeof(size_t), at most @size, and not
 * in the middle of a field.
 * @whose: the struct's name in the error sentence, such as "weir_stats".
 * Return: 0, or -EINVAL if the size is wrong or @sized is NULL. */
int weir__size_check(const void *sized, size_t size, const char *whose);

/* Copy the caller's options over the defaults. The caller may be compiled with an older, shorter
 * struct.
 * @out: @size bytes, set to the defaults.  @options: may be NULL.  @whose: the struct's name.
 * Return: 0, or -EINVAL if the size in @options is wrong. */
int weir__options_copy(void *out, size_t size, const void *options, const char *whose);

/* ---- asking the caller of a long call whether to continue ---- */

/* The library reads, merges or counts at most this number of bytes between two calls of a progress
 * function, so that the function can soon stop a long call. */
enum { WEIR__PIECE = 1 << 20 };

/* Call the caller's progress function, unless @progress is NULL. @unit: the unit of @done and
 * @total, such as "bytes". Return: 0, or -ECANCELED if the function asked to stop. */
int weir__progress(weir_progress_fn *progress, void *arg, uint64_t done, uint64_t total,
                   const char *unit);

#endif
