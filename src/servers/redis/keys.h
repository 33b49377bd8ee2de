/* SPDX-License-Identifier: MIT
 * What the commands BF.* and CF.* share. */
#ifndef WEIR_REDIS_KEYS_H
#define WEIR_REDIS_KEYS_H

#include "abi.h"
#include "chain.h"

/* The keys of BF.* and those of CF.*. */
struct key_kind {
	struct redis_type *type;
	bool cuckoo;              /* what its chains are of */
	const char *link;         /* the command that carries one link */
	const char *load_chunk;
};
extern struct key_kind bf_keys, cf_keys; /* rdb.c */

extern const struct chain_memory key_memory; /* Redis's, so that it counts it */
extern uint64_t key_most;                    /* max-bytes, 0: no limit */

/* max-bytes, or 0 for what comes from a master or a file. */
uint64_t key_most_for(struct redis_context *context);
/* In 63 bits, so that it is a number for every client; not 0. */
uint64_t key_draw_seed(void);

int key_types_create(struct redis_context *context);

/* Return: 0: @out has the chain, or NULL for a missing key; else an error was the reply.
 * A key that is opened is to be closed, whatever the answer. */
int key_open(struct redis_context *context, const struct key_kind *kind,
             struct redis_string *name, int mode, struct redis_key **key, struct chain **out);

/* Reply with the sentence about the last failure, or with @full where that is -ENOSPC. */
void key_fail(struct redis_context *context, int err, const char *full);

/* Answers whether each of argv[2..argc) is there, as an array where @many. */
int key_look(struct redis_context *context, const struct key_kind *kind,
             struct redis_string **argv, int argc, bool many);

/* Return: is it a number from @least to @most? */
bool key_number(const struct redis_string *s, uint64_t least, uint64_t most, uint64_t *out);

redis_command bf_reserve, bf_add, bf_madd, bf_insert;          /* bf_write.c */
redis_command bf_exists, bf_mexists, bf_info, bf_card;         /* bf_read.c */
redis_command cf_reserve, cf_add, cf_addnx, cf_insert, cf_insertnx, cf_del; /* cf_write.c */
redis_command cf_exists, cf_mexists, cf_count, cf_info;        /* cf_read.c */
redis_command bf_scandump, cf_scandump, bf_loadchunk, cf_loadchunk; /* scandump.c, loadchunk.c */
redis_command bf_link, cf_link;                                /* link.c */

#endif
