/* SPDX-License-Identifier: MIT
 * Structs that begin with their own size, so that they can grow: an older header's is shorter. */
#ifndef WEIR_SRC_GROUND_OPTIONS_H
#define WEIR_SRC_GROUND_OPTIONS_H

#include <stddef.h>

/* Check a struct's own size: at least that of a size_t, at most @size.
 * @whose: the struct's name for the sentence, such as "weir_stats".
 * Return: 0; -EINVAL the size is wrong, or @sized is NULL. */
int weir__size_check(const void *sized, size_t size, const char *whose);

/* Copy the caller's options, which may come from an older header, over the defaults.
 * @out: @size bytes, set to the defaults.  @options: may be NULL.  @whose: as above.
 * Return: as weir__size_check(). */
int weir__options_copy(void *out, size_t size, const void *options, const char *whose);

#endif
