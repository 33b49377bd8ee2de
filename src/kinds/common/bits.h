/* SPDX-License-Identifier: MIT
 * Members of struct weir_kind for kinds whose bits only go from 0 to 1 (B1). Others must look
 * before they take them: counters cannot be or'ed, and a copy made word by word can miss a key that
 * moves. */
#ifndef WEIR_SRC_KINDS_COMMON_BITS_H
#define WEIR_SRC_KINDS_COMMON_BITS_H

#include "kind/kind.h"

/* merge: or each word into dst, if that changes it. */
int weir__bits_merge(struct weir_filter *dst, const struct weir_filter *src, uint64_t first,
                     uint64_t n);
/* snapshot: word by word. Also for counters that only grow, or that nobody changes meanwhile. */
void weir__bits_snapshot(const struct weir_filter *f, uint64_t first, uint64_t n, uint64_t *out);

#endif
