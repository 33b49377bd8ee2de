/* SPDX-License-Identifier: MIT
 * The head: one hash in redis, which only the two scripts write. What touch answers of it. */
#ifndef WEIR_REPLICA_HEAD_H
#define WEIR_REPLICA_HEAD_H

#include "id.h"

struct weir_head {
	uint64_t mark;              /* of this epoch, random; never 0 */
	uint64_t prev;              /* the mark before, whose log goes on; 0: none does (U1, U9) */
	struct weir_log_id base;    /* the log's end where this epoch began; 0-0: there was none */
	struct weir_log_id lost;    /* ids up to this one were given up: nobody misses them (U9) */
	struct weir_log_id last;    /* the log's last entry, */
	uint64_t tag;               /* and its tag */
	struct weir_version version; /* the newest generation; 0.0: there is none */
	uint64_t generation;        /* its id; 0 */
	uint64_t now_ms;            /* the server's clock */
	uint32_t replicas;          /* the most that were connected within replica_grace_ms, */
	uint32_t connected;         /* and those that are now */
	bool full;                  /* entries were refused: only an image's room is left */
};

#endif
