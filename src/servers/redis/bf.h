/* SPDX-License-Identifier: MIT
 * What the commands BF.* share. */
#ifndef WEIR_REDIS_BF_H
#define WEIR_REDIS_BF_H

#include "abi.h"
#include "chain.h"

extern const struct chain_memory bf_memory; /* Redis's, so that it counts it */
extern struct redis_type *bf_type;
extern uint64_t bf_most;                    /* max-bytes, 0: no limit */

/* max-bytes, or 0 for what comes from a master or a file. */
uint64_t bf_most_for(struct redis_context *context);

int bf_type_create(struct redis_context *context);

/* Return: 0: @out has the chain, or NULL for a missing key; else an error was the reply.
 * A key that is opened is to be closed, whatever the answer. */
int bf_open(struct redis_context *context, struct redis_string *name, int mode,
            struct redis_key **key, struct chain **out);

redis_command bf_reserve, bf_add, bf_madd, bf_insert, bf_link; /* bf_write.c, rdb.c */
redis_command bf_exists, bf_mexists, bf_info, bf_card;         /* bf_read.c */
redis_command bf_scandump, bf_loadchunk;                       /* bf_dump.c */

#endif
