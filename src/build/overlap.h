/* SPDX-License-Identifier: MIT
 * Hashes that two lists have in common. */
#ifndef WEIR_SRC_BUILD_OVERLAP_H
#define WEIR_SRC_BUILD_OVERLAP_H

#include "build/distinct.h"

/* @equal: receives how many there are.  @least: receives the least of them, if there is one.
 * Return: 0 or a negative errno. */
int weir__overlap(const struct weir_distinct *a, const struct weir_distinct *b, unsigned threads,
                  uint64_t *equal, uint64_t *least);

#endif
