/* SPDX-License-Identifier: MIT
 * Builds a reference of the layered kind with an exclude list. */
#ifndef WEIR_TESTS_KINDS_LAYERED_H
#define WEIR_TESTS_KINDS_LAYERED_H

#include "reference.h"

/* @ref: an empty reference with the filter's shape. @excluded: @m hashes that are not in @hashes;
 * duplicates are allowed. Return: 0, or -ENOSPC if no filter of this shape can be built. */
int layered_reference_build(struct reference *ref, const uint64_t *hashes, size_t n,
                            const uint64_t *excluded, size_t m);

#endif
