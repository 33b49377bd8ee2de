/* SPDX-License-Identifier: MIT
 * The database behind the cache: a table of users by id, in SQLite (sqlite.c) or in a PostgreSQL
 * server (postgresql.c). The example needs only these functions. */
#ifndef WEIR_EXAMPLES_DATABASE_H
#define WEIR_EXAMPLES_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

struct database; /* a connection, used by one thread */

extern const char database_name[];

/* Make an empty table; call this function once, before all others. SQLite's files are in
 * @folder. PostgreSQL's files are in a folder of their own, which is removed at exit. Without a
 * PostgreSQL server the example exits as skipped. */
void database_start(const char *folder);

struct database *database_open(void);
void database_close(struct database *db);

/* Insert a row, which is committed on return. */
void database_add(struct database *db, int64_t id);

/* Insert the ids of @from .. @to - 1, in one transaction. */
void database_fill(struct database *db, uint64_t from, uint64_t to, int64_t (*id_of)(uint64_t));

bool database_has(struct database *db, int64_t id);

void database_each(struct database *db, void (*seen)(void *with, int64_t id), void *with);

#endif
