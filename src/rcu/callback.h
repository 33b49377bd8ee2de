/* SPDX-License-Identifier: MIT
 * Is this liburcu's own thread, which runs what call_rcu was given? */
#ifndef WEIR_SRC_CALLBACK_H
#define WEIR_SRC_CALLBACK_H

#include <stdbool.h>

struct rcu_flavor_struct;

/* Return: false too for a flavor that is none of liburcu's bp, memb, mb and qsbr. */
bool weir__in_callback(const struct rcu_flavor_struct *flavor);

#endif
