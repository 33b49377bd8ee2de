/* SPDX-License-Identifier: MIT
 * The union of filters whose sizes may differ by a power of two: the larger is folded. */
#ifndef WEIR_TOOL_UNITE_H
#define WEIR_TOOL_UNITE_H

#include <stdbool.h>
#include <stdint.h>
#include <weir/weir.h>

/* Merge @next into @sum, which is replaced by a smaller one if it is the larger. @max_memory: for a
 * folded copy. @folded: set if one was. Return: TOOL_OK, or another: unite_trouble() has the
 * sentence. */
int unite(struct weir_filter **sum, const struct weir_filter *next, uint64_t max_memory,
          bool *folded);
const char *unite_trouble(void);
/* Did it fail because the two were built differently? weir build --like is the remedy. */
bool unite_unlike(void);

#endif
