/* SPDX-License-Identifier: MIT
 * The table in an SQLite file. */
#include <sqlite3.h>
#include "../example.h"
#include "database.h"

const char database_name[] = "SQLite";

struct database {
	sqlite3 *db;
	sqlite3_stmt *insert, *select;
};

static char file[NAME];

static void must_sql(int answer, sqlite3 *db)
{
	if (answer == SQLITE_OK || answer == SQLITE_DONE || answer == SQLITE_ROW)
		return;
	fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(db));
	exit(1);
}

static void run(sqlite3 *db, const char *sql)
{
	must_sql(sqlite3_exec(db, sql, NULL, NULL, NULL), db);
}

static sqlite3_stmt *prepared(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;
	must_sql(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), db);
	return statement;
}

void database_start(const char *folder)
{
	snprintf(file, NAME, "%s/users.sqlite", folder);
}

struct database *database_open(void)
{
	struct database *d = room_for(1, sizeof *d);
	must_sql(sqlite3_open(file, &d->db), d->db);
	sqlite3_busy_timeout(d->db, 60000);
	run(d->db, "pragma journal_mode = wal; pragma synchronous = off;"
	           "create table if not exists user (id integer primary key, name text)");
	d->insert = prepared(d->db, "insert into user values (?, 'somebody')");
	d->select = prepared(d->db, "select name from user where id = ?");
	return d;
}

void database_close(struct database *d)
{
	sqlite3_finalize(d->insert);
	sqlite3_finalize(d->select);
	sqlite3_close(d->db);
	free(d);
}

/* Return: true if there was a row. */
static bool with_id(struct database *d, sqlite3_stmt *statement, int64_t id)
{
	must_sql(sqlite3_bind_int64(statement, 1, id), d->db);
	const int answer = sqlite3_step(statement);
	must_sql(answer, d->db);
	must_sql(sqlite3_reset(statement), d->db);
	return answer == SQLITE_ROW;
}

void database_add(struct database *d, int64_t id) { with_id(d, d->insert, id); }

void database_fill(struct database *d, uint64_t from, uint64_t to, int64_t (*id_of)(uint64_t))
{
	run(d->db, "begin");
	for (uint64_t i = from; i < to; i++)
		database_add(d, id_of(i));
	run(d->db, "commit");
}

bool database_has(struct database *d, int64_t id) { return with_id(d, d->select, id); }

void database_each(struct database *d, void (*seen)(void *with, int64_t id), void *with)
{
	sqlite3_stmt *all = prepared(d->db, "select id from user");
	int answer;
	while ((answer = sqlite3_step(all)) == SQLITE_ROW)
		seen(with, sqlite3_column_int64(all, 0));
	must_sql(answer, d->db);
	sqlite3_finalize(all);
}
