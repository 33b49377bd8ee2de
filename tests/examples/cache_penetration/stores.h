/* SPDX-License-Identifier: MIT
 * What stands behind the guard: a redis-server and a table of SQLite, each in the example's folder.
 */
#ifndef WEIR_EXAMPLES_STORES_H
#define WEIR_EXAMPLES_STORES_H

#include <hiredis/hiredis.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "../example.h"

enum { CACHED_SECONDS = 60, SKIPPED = 77 };

static char socket_path[NAME], table[NAME];

/* ---- the database ---- */

static void must_sql(int answer, sqlite3 *db)
{
	if (answer == SQLITE_OK || answer == SQLITE_DONE || answer == SQLITE_ROW)
		return;
	fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(db));
	exit(1);
}

static sqlite3 *open_table(void)
{
	sqlite3 *db;
	must_sql(sqlite3_open(table, &db), db);
	sqlite3_busy_timeout(db, 60000);
	must_sql(sqlite3_exec(db, "pragma journal_mode = wal; pragma synchronous = off;"
	                      "create table if not exists user (id integer primary key, "
	                      "name text)", NULL, NULL, NULL), db);
	return db;
}

static sqlite3_stmt *prepared(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;
	must_sql(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), db);
	return statement;
}

/* ---- the cache ---- */

static pid_t server;

static void stop_server(void)
{
	if (server > 0 && kill(server, SIGTERM) == 0)
		waitpid(server, NULL, 0);
}

/* It ends with this process, however that ends. */
static void start_server(void)
{
	server = fork();
	if (server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket_path,
		       "--save", "", "--appendonly", "no", "--logfile", "/dev/null", "--dir", "/",
		       (char *)NULL);
		_exit(SKIPPED);
	}
	must(server < 0 ? -errno : 0, "fork");
	atexit(stop_server);
}

static redisContext *cache(void)
{
	redisContext *c = NULL;
	for (double until = seconds() + 60; seconds() < until; usleep(2000)) {
		c = redisConnectUnix(socket_path);
		if (c && !c->err)
			return c;
		if (c)
			redisFree(c);
		if (server > 0 && waitpid(server, NULL, WNOHANG) == server)
			break;
	}
	fprintf(stderr, "no redis-server at %s\n", socket_path);
	server = 0;
	exit(SKIPPED);
}

static void cache_empty(void)
{
	redisContext *c = cache();
	redisReply *reply = redisCommand(c, "FLUSHALL");
	if (reply)
		freeReplyObject(reply);
	redisFree(c);
}

static void cache_put(redisContext *c, int64_t id)
{
	redisReply *reply = redisCommand(c, "SET user:%lld somebody EX %d", (long long)id,
	                                 CACHED_SECONDS);
	if (reply)
		freeReplyObject(reply);
}

static bool cache_has(redisContext *c, int64_t id)
{
	redisReply *reply = redisCommand(c, "GET user:%lld", (long long)id);
	bool has = reply && reply->type == REDIS_REPLY_STRING;
	if (reply)
		freeReplyObject(reply);
	return has;
}

#endif
