/* SPDX-License-Identifier: MIT
 * Filters that are built once, from all their keys, and take no insert afterwards. */
#ifndef WEIR_BUILD_H
#define WEIR_BUILD_H

#include <stddef.h>
#include <stdint.h>
#include <weir/export.h>
#include <weir/filter.h>
#include <weir/params.h>

WEIR_BEGIN_DECLS

/**
 * Build a filter.
 * @out: receives the filter; untouched on failure.
 * @params: as for weir_create(), with the seed that the hashes were made with; capacity 0: n.
 * @hashes: @n hashes, of as many keys; one may come twice.
 * Return: 0 or a negative errno.
 * Errors: as weir_create(); -EINVAL seed 0: nobody could have made the hashes; -ENOTSUP the kind is
 *   not built but inserted into (blocked, classic).
 * Threads: any.  Progress: blocking (memory).  Cost: the kind's own.
 */
WEIR_API WEIR_MUST_CHECK int weir_build(struct weir_filter **out, const struct weir_params *params,
                                        const uint64_t *hashes, size_t n);

WEIR_END_DECLS

#endif
