/* SPDX-License-Identifier: MIT
 * Members of struct weir_kind that the growing kind has as a compound. */
#ifndef WEIR_SRC_GROWING_WHOLE_H
#define WEIR_SRC_GROWING_WHOLE_H

#include "kind/kind.h"

unsigned weir__growing_members(const struct weir_filter *f,
                               struct weir_member out[WEIR__MEMBERS_MOST]);
int weir__growing_suits(const struct weir_parts *parts, unsigned i,
                        const struct weir_layout *member);
int weir__growing_adopt(struct weir_filter *f, const struct weir_member *m, unsigned n);
int weir__growing_join(struct weir_filter *dst, const struct weir_member *from, unsigned n);
void weir__growing_joined(struct weir_filter *dst, unsigned i, uint64_t more);

#endif
