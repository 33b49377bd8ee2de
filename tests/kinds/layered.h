/* SPDX-License-Identifier: MIT
 * The layered kind's reference with an exclude list. */
#ifndef WEIR_TESTS_KINDS_LAYERED_H
#define WEIR_TESTS_KINDS_LAYERED_H

#include "reference.h"

/* @ref: empty, of the shape that the filter has.  @excluded: @m hashes, some perhaps the same; none
 * is among @hashes.  Return: 0; -ENOSPC it cannot be built in that shape. */
int layered_reference_build(struct reference *ref, const uint64_t *hashes, size_t n,
                            const uint64_t *excluded, size_t m);

#endif
