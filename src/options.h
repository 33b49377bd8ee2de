/* SPDX-License-Identifier: MIT
 * Options that begin with their own size. */
#ifndef WEIR_SRC_OPTIONS_H
#define WEIR_SRC_OPTIONS_H

#include <stddef.h>

/* Copy options of a header as old as may be: @out, of @size bytes, is set to its defaults; @options may be NULL. @whose: "weir_save_options". */
int weir__options_copy(void *out, size_t size, const void *options, const char *whose);

#endif
