/* SPDX-License-Identifier: MIT
 * The members of the cuckoo kind that go over all of an array. */
#ifndef WEIR_SRC_KINDS_CUCKOO_WHOLE_H
#define WEIR_SRC_KINDS_CUCKOO_WHOLE_H

#include "kind/kind.h"

void weir__cuckoo_measure(const struct weir_filter *f, uint64_t first, uint64_t n,
                          struct weir_measure *sum);
void weir__cuckoo_estimate(const struct weir_filter *f, const struct weir_measure *sum,
                           double *keys, double *rate);
int weir__cuckoo_merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
                       uint64_t n);
void weir__cuckoo_take_back(struct weir_filter *dst, const struct weir_filter *src,
                            uint64_t copies);
void weir__cuckoo_snapshot(const struct weir_filter *f, uint64_t first, uint64_t n, uint64_t *out);

#endif
