/* SPDX-License-Identifier: MIT
 * Hints at keys that are wrapped in JSON, statements, quotes, a table, or a list on one line. */
#ifndef WEIR_TOOL_HINT_SHAPE_H
#define WEIR_TOOL_HINT_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

/* Prints a hint if keys are wrapped. @lines: the first lines that are neither blank nor comments.
 * @lookup: true for a query, where a list on a single line gets no hint. Return: true if a hint was
 * printed. */
bool hint_shape(const char *file, const struct iovec *lines, size_t n, bool lookup);

#endif
