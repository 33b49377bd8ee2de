/* SPDX-License-Identifier: MIT
 * The layered kind's reference with an exclude list. */
#ifndef WEIR_TESTS_KINDS_LAYERED_H
#define WEIR_TESTS_KINDS_LAYERED_H

#include "reference.h"

/* @ref: empty, of the filter's shape.  @excluded: @m hashes, duplicates allowed; none is among
 * @hashes.  Return: 0, or -ENOSPC if the shape cannot be built from them. */
int layered_reference_build(struct reference *ref, const uint64_t *hashes, size_t n,
                            const uint64_t *excluded, size_t m);

#endif
