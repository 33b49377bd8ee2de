/* SPDX-License-Identifier: MIT
 * What the kinds whose bits only go from 0 to 1 (B1) share. Wrong for others: counters do not or,
 * and a key that moves from word to word may be missed by a copy made word by word. */
#ifndef WEIR_SRC_KINDS_COMMON_BITS_H
#define WEIR_SRC_KINDS_COMMON_BITS_H

#include "kind.h"

/* struct weir_kind's merge: each word or'ed in, where that changes it. */
int weir__bits_merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
                     uint64_t n);
/* struct weir_kind's snapshot: word by word. */
void weir__bits_snapshot(const struct weir_filter *f, uint64_t first, uint64_t n, uint64_t *out);

#endif
