/* SPDX-License-Identifier: MIT
 * Functions shared by the readers of this module's values (rdb.c) and of RedisBloom's
 * (rdb_old.c). */
#ifndef WEIR_REDIS_RDB_H
#define WEIR_REDIS_RDB_H

#include "dump.h"

/* Bytes of Redis's two records of a value, which MEMORY USAGE leaves out for modules. */
enum { VALUE_RECORDS = 32 };

/* rdb_sub.c: fail because the value ends early. Return: -EBADMSG. */
int rdb_ended(void);

/* Read @subs sub filters into a new filter. Return: 0 or a negative errno; the caller destroys the
 * filter. */
int rdb_load_subs(struct redis_io *io, const struct cuckoo_settings *s, uint64_t subs,
                  uint64_t deleted, uint64_t changes, struct cuckoo **c);
/* Read sub filter @j of a filter, which is the next. */
int rdb_load_sub(struct redis_io *io, struct cuckoo *c, unsigned j);

/* rdb_chain.c: write a chain; read one that rdb_save_chain() wrote. Return: as rdb_load_subs(). */
void rdb_save_chain(struct redis_io *io, const struct chain *c);
int rdb_load_chain(struct redis_io *io, struct chain **c);

/* rdb.c: add the header and all arrays to a digest of DEBUG DIGEST-VALUE. */
void rdb_digest(void *to, const struct dump_key *k);

/* Read a value of RedisBloom's. Return: as rdb_load_subs(). */
int rdb_load_old_bf(struct redis_io *io, int version, struct chain **c);
int rdb_load_old_cf(struct redis_io *io, int version, struct cuckoo **c);

#endif
