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
 * Build a filter from all its keys.
 * @out: receives the filter; untouched on failure.
 * @params: as for weir_create(), but with the seed or hash_key that the hashes were made with. A
 *   capacity of 0 becomes @n.
 * @hashes: @n hashes, one for each key. A hash may occur more than once.
 * Return: 0 or a negative errno.
 * Errors: as weir_create(); -ENOTSUP the kind takes inserts instead (blocked, classic); -EINVAL
 *   seed is 0 and hash_key NULL, or @hashes is NULL; others are the kind's own.
 * Threads: any.  Order: none; publish the filter with release order.
 * Progress: blocking (memory).  Cost: the kind's own.
 */
WEIR_API WEIR_MUST_CHECK int weir_build(struct weir_filter **out, const struct weir_params *params,
                                        const uint64_t *hashes, size_t n);

WEIR_END_DECLS

#endif
