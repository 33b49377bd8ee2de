/* SPDX-License-Identifier: MIT
 * The head: a redis hash that only the two scripts write. struct weir_head has the answer of
 * touch.lua. */
#ifndef WEIR_REPLICA_HEAD_H
#define WEIR_REPLICA_HEAD_H

#include "id.h"

struct weir_head {
	uint64_t mark;              /* this epoch's random mark; never 0 */
	uint64_t prev;              /* previous epoch's mark if this epoch continues the log of that
	                               epoch, else 0 ([NEW-EPOCH], [GIVE-UP]) */
	struct weir_log_id base;    /* the log's last id before this epoch; 0-0: no log */
	struct weir_log_id lost;    /* the nodes gave up the entries up to this id ([GIVE-UP]) */
	struct weir_log_id last;    /* the log's last id */
	uint64_t tag;               /* the last entry's tag */
	struct weir_version version; /* the newest generation; 0.0: none */
	uint64_t generation;        /* id of the newest generation; 0: none */
	uint64_t now_ms;            /* the server's clock */
	uint32_t replicas;          /* the largest number of replicas that were connected at the
	                               same time within the last replica_grace_ms */
	uint32_t connected;         /* the number of replicas that are connected now */
	bool full;                  /* touch.lua refused the entries of this touch, to leave memory
	                               for an image */
};

#endif
