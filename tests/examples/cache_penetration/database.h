/* SPDX-License-Identifier: MIT
 * The database behind the cache: a table of users by id. Of SQLite (sqlite.c) or of a PostgreSQL
 * server (postgresql.c); what the example asks of it is this. */
#ifndef WEIR_EXAMPLES_DATABASE_H
#define WEIR_EXAMPLES_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

struct database; /* a connection, of one thread */

extern const char database_name[];

/* Once, before all others: an empty table. What it needs of files is in @folder, or goes away at
 * exit. Ends the example, as skipped, where there is no such server. */
void database_start(const char *folder);

struct database *database_open(void);
void database_close(struct database *db);

/* Committed when it returns. */
void database_add(struct database *db, int64_t id);

/* Those of the ids of @from to @to, at once. */
void database_fill(struct database *db, uint64_t from, uint64_t to, int64_t (*id_of)(uint64_t));

bool database_has(struct database *db, int64_t id);

void database_each(struct database *db, void (*seen)(void *with, int64_t id), void *with);

#endif
