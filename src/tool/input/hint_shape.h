/* SPDX-License-Identifier: MIT
 * Keys in a wrapping: JSON, statements, quotes, a table, or a list on one line. */
#ifndef WEIR_TOOL_HINT_SHAPE_H
#define WEIR_TOOL_HINT_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* Looks at the first lines of a file that are neither blank nor comments. @lookup: a single line is
 * not suspicious. Return: was there a hint? */
bool hint_shape(const char *file, const struct iovec *lines, size_t n, bool lookup);

#endif
