/* SPDX-License-Identifier: MIT
 * Functions shared by the commands BF.*, CF.* and WEIR.WINDOW.*.
 *
 * Replication. Replicas and the append-only file get a command as the client sent it, if it gives
 * the same result there: they ignore memory limits, and a key's contents depend only on its
 * commands. They get something else in two cases. A new key is sent by WEIR.BFMAKE or WEIR.CFMAKE,
 * with its drawn seed and the items that were added. If a memory limit refused some items, the
 * items that were taken are sent. */
#ifndef WEIR_REDIS_KEYS_H
#define WEIR_REDIS_KEYS_H

#include "abi.h"
#include "chain.h"
#include "cuckoo.h"

/* The kind of a key: BF.*, CF.* or WEIR.WINDOW.*. */
struct key_kind {
	struct redis_type *type;
	const char *load_chunk; /* the name of its LOADCHUNK */
	bool cuckoo;
};
extern struct key_kind bf_keys, cf_keys; /* rdb.c */
extern struct key_kind window_keys;      /* window_rdb.c */

extern const struct chain_memory key_memory; /* Redis's allocator, which counts the memory */

/* Arguments of loadmodule. */
struct key_options {
	uint64_t max_bytes;      /* bytes of bits of one key; 0: no limit */
	double error;            /* of BF keys that are made without RESERVE */
	uint64_t bf_capacity, cf_capacity; /* of keys that are made without RESERVE */
	uint64_t cf_expansions;  /* the most sub filters of a CF key */
	bool compat;             /* reply as RedisBloom where weir would refuse */
	bool server_hash;        /* BF keys of version 3 are by RedisBloom 2.0.0 or 2.0.1 */
};
extern struct key_options key_options;

/* Return: true for a command of a client, false for one from a master or a file. */
bool key_is_client(struct redis_context *context);
/* Return: true if a command that RedisBloom takes is to be taken too, although it looks like a
 * mistake: with compat, and from a master or a file, which may be RedisBloom's. */
bool key_compat(struct redis_context *context);
/* Return: max-bytes; 0 for commands from a master or a file. */
uint64_t key_most_for(struct redis_context *context);
/* The same for a value of RESTORE: 0 for one from a master or a file. */
uint64_t key_most_for_value(void);
/* Return: the most sub filters that a header or a value may have. */
uint64_t key_subs_most(void);
/* Return: a level for the log: "warning" for a value of a file or a master, else "verbose", since
 * clients may send many bad values by RESTORE. */
const char *key_log_level(void);

int key_types_create(struct redis_context *context);
int window_type_create(struct redis_context *context); /* window_rdb.c */
int commands_create(struct redis_context *context);    /* commands.c */

/* Return: 0, and @out receives the key's value, or NULL for a missing key; else this function has
 * sent an error reply. The caller closes @key in any case. */
int key_open(struct redis_context *context, const struct key_kind *kind,
             struct redis_string *name, int mode, struct redis_key **key, void *out);

/* As key_open(), but reply @other if the key has another type. @other NULL: such a key counts as
 * missing. */
int key_open_or(struct redis_context *context, const struct key_kind *kind,
                struct redis_string *name, int mode, struct redis_key **key, void *out,
                const char *other);

/* As key_open() for a lookup. With compat a key of another type counts as missing. */
int key_look(struct redis_context *context, const struct key_kind *kind,
             struct redis_string *name, struct redis_key **key, void *out);

/* Return: a seed above 0 and below 2^63, the largest number that every client can read. */
uint64_t key_draw_seed(void);

/* Convert between a number and its little-endian bytes in a replicated string. */
static inline uint64_t key_little(uint64_t n)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap64(n);
#else
	return n;
#endif
}

/* Reply with the error sentence of the last failure. @full: the text for -ENOSPC; NULL: the
 * sentence. */
void key_fail(struct redis_context *context, int err, const char *full);

/* End a write: reply with the error @wrong; or, if it is NULL, replicate the command and reply
 * OK. */
void key_end(struct redis_context *context, const char *wrong);

/* Parse a number from @least to @most, both below 2^63. Return: NULL; or the error, which leaves
 * @out unchanged: @bad if @s is not a number, @range if it is out of range. */
const char *key_number(const struct redis_string *s, uint64_t least, uint64_t most, uint64_t *out,
                       const char *bad, const char *range);

redis_command bf_reserve, bf_add, bf_madd, bf_insert, bf_make; /* bf_write.c */
redis_command bf_exists, bf_mexists, bf_info, bf_card, bf_debug; /* bf_read.c */
redis_command cf_reserve, cf_add, cf_addnx, cf_insert, cf_insertnx, cf_make; /* cf_write.c */
redis_command cf_del, cf_compact;                              /* cf_remove.c */
redis_command cf_exists, cf_mexists, cf_count, cf_info, cf_debug; /* cf_read.c */
redis_command bf_scandump, cf_scandump, bf_loadchunk, cf_loadchunk; /* scandump.c, loadchunk.c */
redis_command window_reserve, window_add_one, window_madd, window_exists, window_mexists,
	window_info;                                           /* window_keys.c */
redis_command window_make_key, window_load_part;               /* window_rewrite.c */
redis_command weir_publish, weir_load_set;                     /* set_publish.c, set_load.c */

/* rewrite.c: the aof_rewrite callbacks. */
void bf_rewrite(struct redis_io *io, struct redis_string *key, void *value);
void cf_rewrite(struct redis_io *io, struct redis_string *key, void *value);
/* End the process of a rewrite, a child of the server, since memory is short. */
void rewrite_fail(struct redis_io *io);

#endif
