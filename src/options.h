/* SPDX-License-Identifier: MIT
 * Structs that begin with their own size, so that they can grow: those of an older header are
 * shorter. */
#ifndef WEIR_SRC_OPTIONS_H
#define WEIR_SRC_OPTIONS_H

#include <stddef.h>

/* Does @sized, a struct that begins with its own size, have one that this library knows: the
 * size's own at least, @size at most? -EINVAL: no, or it is NULL. @whose: "weir_stats", for the
 * sentence. */
int weir__size_check(const void *sized, size_t size, const char *whose);

/* Copy options of a header as old as may be: @out, of @size bytes, is set to its defaults; @options
 * may be NULL.
 * @whose: "weir_save_options". */
int weir__options_copy(void *out, size_t size, const void *options, const char *whose);

#endif
