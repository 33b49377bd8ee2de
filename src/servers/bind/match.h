/* SPDX-License-Identifier: MIT
 * Which suffix of a name a filter has. */
#ifndef WEIR_SERVERS_BIND_MATCH_H
#define WEIR_SERVERS_BIND_MATCH_H

#include "name.h"

struct weir_filter;

/* Whether the keys of a filter can be domains: not if they are addresses (--cidr). */
int match_serves(const struct weir_filter *f);

/* Return: the label at which the longest suffix that is in the set begins, 0 for the whole name;
 * -1: none is. The root is in no set. Call it in a read-side section of the filter's handle. */
int match_suffix(const struct weir_filter *f, const struct name *name);

#endif
