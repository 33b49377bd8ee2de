/* SPDX-License-Identifier: MIT
 * Functions shared by the commands BF.* and CF.*. */
#ifndef WEIR_REDIS_KEYS_H
#define WEIR_REDIS_KEYS_H

#include "abi.h"
#include "chain.h"

/* The kind of a key: BF.* or CF.*. */
struct key_kind {
	struct redis_type *type;
	bool cuckoo;              /* its chains have cuckoo filters */
	const char *link;         /* name of the command that loads one link */
	const char *load_chunk;
	const char *full;         /* the error text for a full key */
	/* Send the RESERVE command of a new key to replicas and the append-only file. */
	void (*replicate)(struct redis_context *, struct redis_string *name,
	                  const struct chain_settings *);
};
extern struct key_kind bf_keys, cf_keys; /* rdb.c */

extern const struct chain_memory key_memory; /* Redis's allocator, which counts the memory */
/* the module's argument max-bytes, the most bytes of bits in one key; 0: no limit */
extern uint64_t key_most;

/* Return: key_most; 0 (no limit) if the command comes from a master or from a file. */
uint64_t key_most_for(struct redis_context *context);

int key_types_create(struct redis_context *context);

/* Return: 0, and @out receives the chain, or NULL for a missing key; else this function has sent an
 *   error reply. The caller closes @key in any case. */
int key_open(struct redis_context *context, const struct key_kind *kind,
             struct redis_string *name, int mode, struct redis_key **key, struct chain **out);

/* Open a key for adding items. @s: settings with which this function makes a missing key; NULL: do
 * not make the key. If the seed of @s is 0, this function draws a seed. Close @key in any case.
 * Return: 0, and @out receives the chain; else this function has sent an error reply. */
int key_open_to_add(struct redis_context *context, const struct key_kind *kind,
                    struct redis_string *name, struct chain_settings *s, struct redis_key **key,
                    struct chain **out);

/* RESERVE: make a key with the parsed arguments. */
int key_reserve(struct redis_context *context, const struct key_kind *kind,
                struct redis_string *name, struct chain_settings *s);

/* Reply with the error text of the last failure. For -ENOSPC, reply with kind->full instead, unless
 * @kind is NULL. */
void key_fail(struct redis_context *context, const struct key_kind *kind, int err);

/* Reply for each item of argv[2..argc) whether it is in the key. @many: reply with an array. */
int key_reply_contains(struct redis_context *context, const struct key_kind *kind,
                       struct redis_string **argv, int argc, bool many);

/* Parse a number from @least to @most, both below 2^63. Return: NULL; or the error, which leaves
 * @out unchanged: @bad if @s is not a number, @range if it is out of range. */
const char *key_number(const struct redis_string *s, uint64_t least, uint64_t most, uint64_t *out,
                       const char *bad, const char *range);

void bf_replicate(struct redis_context *, struct redis_string *, const struct chain_settings *);
void cf_replicate(struct redis_context *, struct redis_string *, const struct chain_settings *);

redis_command bf_reserve, bf_add, bf_madd, bf_insert;          /* bf_write.c */
redis_command bf_exists, bf_mexists, bf_info, bf_card;         /* bf_read.c */
redis_command cf_reserve, cf_add, cf_addnx, cf_insert, cf_insertnx, cf_del; /* cf_write.c */
redis_command cf_exists, cf_mexists, cf_count, cf_info;        /* cf_read.c */
redis_command bf_scandump, cf_scandump, bf_loadchunk, cf_loadchunk; /* scandump.c, loadchunk.c */
redis_command bf_link, cf_link;                                /* link.c */
redis_command weir_publish, weir_load_set;                     /* set_publish.c, set_load.c */

/* ---- a link as an image, and a chain from images ---- */

/* Return: a mapped plain image of @f, or NULL. */
void *key_image(const struct weir_filter *f, size_t *bytes);

/* Make a chain without links, with settings and counts of @head. Return: 0; or a negative errno: no
 * memory, or a chain of this kind cannot have these values. */
int key_begin(struct chain **out, const struct key_kind *kind, const struct chain *head);

/* The aof_rewrite callback of both types. */
void key_rewrite(struct redis_io *io, struct redis_string *key, void *value);

#endif
