/* SPDX-License-Identifier: MIT
 * Parts of a view: reports of nodes. */
#ifndef WEIR_REPLICA_VIEW_H
#define WEIR_REPLICA_VIEW_H

#include <hiredis/hiredis.h>
#include <weir/replica.h>

/* { node, report, ... }: the reports that can be read, by age.
 * Return: how many; @out has room for half of the elements. */
size_t weir__view_nodes(struct weir_replica_node *out, const redisReply *flat, uint64_t now_ms);

#endif
