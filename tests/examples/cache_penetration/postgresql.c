/* SPDX-License-Identifier: MIT
 * The table in a private PostgreSQL server: a new cluster in its own folder, with a Unix socket
 * there. PostgreSQL refuses to run as root, so under root the server runs as the user postgres. */
#include <endian.h>
#include <ftw.h>
#include <glob.h>
#include <libpq-fe.h>
#include "child.h"
#include "database.h"

const char database_name[] = "PostgreSQL";

static char cluster[NAME / 4];
static pid_t server;

/* ---- the server ---- */

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *at)
{
	(void)st, (void)what, (void)at;
	return remove(path);
}

static void stop(void)
{
	stop_child(server, SIGINT); /* the server disconnects its clients and shuts down */
	nftw(cluster, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static _Noreturn void skipped(const char *why)
{
	fprintf(stderr, "no PostgreSQL server: %s\n", why);
	exit(SKIPPED);
}

/* Debian keeps the server's programs in a folder for each version, outside PATH. */
static void path_of(const char *program, char *path)
{
	glob_t found;
	snprintf(path, NAME, "%s", program);
	if (glob("/usr/lib/postgresql/*/bin", 0, NULL, &found) == 0)
		snprintf(path, NAME, "%s/%s", found.gl_pathv[found.gl_pathc - 1], program);
	globfree(&found);
}

/* The cluster's folder is outside the example's folder, because the server's user must reach it. */
static void make_cluster(const struct passwd *user)
{
	const char *tmp = getenv("TMPDIR");
	char initdb[NAME];
	char *argv[] = { initdb, "-D", cluster, "-U", "weir", "-A", "trust", "--no-sync",
	                 "--no-instructions", "--locale=C", "-E", "UTF8", NULL };
	snprintf(cluster, sizeof cluster, "%.100s/weir-XXXXXX", tmp ? tmp : "/tmp");
	must(mkdtemp(cluster) ? 0 : -errno, cluster);
	atexit(stop);
	must(user && chown(cluster, user->pw_uid, user->pw_gid) ? -errno : 0, cluster);
	path_of("initdb", initdb);
	const int status = wait_for(start_child(user, argv));
	if (status == SKIPPED)
		skipped("initdb is not installed");
	if (status != 0) {
		fprintf(stderr, "%s has failed: status %d\n", initdb, status);
		exit(1);
	}
}

static PGconn *connected(void)
{
	const char *const keys[] = { "host", "user", "dbname", NULL };
	const char *const values[] = { cluster, "weir", "postgres", NULL };
	PGconn *c = PQconnectdbParams(keys, values, 0);
	for (double until = seconds() + 60; PQstatus(c) != CONNECTION_OK; usleep(20000)) {
		if (seconds() > until || child_ended(&server)) {
			fprintf(stderr, "postgres: %s\n", PQerrorMessage(c));
			exit(1);
		}
		PQfinish(c);
		c = PQconnectdbParams(keys, values, 0);
	}
	return c;
}

/* ---- the table ---- */

static void must_sql(PGconn *c, PGresult *result, ExecStatusType wanted)
{
	if (PQresultStatus(result) != wanted) {
		fprintf(stderr, "postgres: %s\n", PQerrorMessage(c));
		exit(1);
	}
	PQclear(result);
}

void database_start(const char *folder)
{
	char postgres[NAME];
	char *argv[] = { postgres, "-D", cluster, "-k", cluster, "-F", "-c", "listen_addresses=",
	                 "-c", "log_min_messages=fatal", NULL };
	const struct passwd *user = NULL;
	(void)folder;
	if (geteuid() == 0 && (user = getpwnam("postgres")) == NULL)
		skipped("this is root, and there is no user postgres");
	make_cluster(user);
	path_of("postgres", postgres);
	server = start_child(user, argv);
	PGconn *c = connected();
	must_sql(c, PQexec(c, "create table users (id bigint primary key, name text)"),
	         PGRES_COMMAND_OK);
	PQfinish(c);
}

/* Here a struct database pointer is a PGconn pointer, because a connection is all the state. */
static PGconn *connection(struct database *db) { return (PGconn *)db; }

struct database *database_open(void)
{
	PGconn *c = connected();
	must_sql(c, PQprepare(c, "insert", "insert into users values ($1, 'somebody')", 1, NULL),
	         PGRES_COMMAND_OK);
	must_sql(c, PQprepare(c, "select", "select name from users where id = $1", 1, NULL),
	         PGRES_COMMAND_OK);
	return (struct database *)c;
}

void database_close(struct database *db) { PQfinish(connection(db)); }

static PGresult *with_id(PGconn *c, const char *statement, int64_t id)
{
	const uint64_t big_endian = htobe64((uint64_t)id);
	const char *const value[] = { (const char *)&big_endian };
	return PQexecPrepared(c, statement, 1, value, (int[]){ sizeof id }, (int[]){ 1 }, 1);
}

void database_add(struct database *db, int64_t id)
{
	must_sql(connection(db), with_id(connection(db), "insert", id), PGRES_COMMAND_OK);
}

void database_fill(struct database *db, uint64_t from, uint64_t to, int64_t (*id_of)(uint64_t))
{
	PGconn *c = connection(db);
	char line[64];
	must_sql(c, PQexec(c, "copy users from stdin"), PGRES_COPY_IN);
	for (uint64_t i = from; i < to; i++) {
		int len = snprintf(line, sizeof line, "%lld\tsomebody\n", (long long)id_of(i));
		must(PQputCopyData(c, line, len) == 1 ? 0 : -EIO, "copy");
	}
	must(PQputCopyEnd(c, NULL) == 1 ? 0 : -EIO, "copy");
	must_sql(c, PQgetResult(c), PGRES_COMMAND_OK);
	PQclear(PQgetResult(c));
}

bool database_has(struct database *db, int64_t id)
{
	PGresult *result = with_id(connection(db), "select", id);
	const bool has = PQntuples(result) == 1;
	must_sql(connection(db), result, PGRES_TUPLES_OK);
	return has;
}

/* Read row by row, because the table may not fit into memory. */
void database_each(struct database *db, void (*seen)(void *with, int64_t id), void *with)
{
	PGconn *c = connection(db);
	PGresult *row;
	must(PQsendQuery(c, "select id from users") == 1 ? 0 : -EIO, "select");
	must(PQsetSingleRowMode(c) == 1 ? 0 : -EIO, "select");
	while ((row = PQgetResult(c)) && PQresultStatus(row) == PGRES_SINGLE_TUPLE) {
		seen(with, strtoll(PQgetvalue(row, 0, 0), NULL, 10));
		PQclear(row);
	}
	must_sql(c, row, PGRES_TUPLES_OK);
	PQclear(PQgetResult(c));
}
