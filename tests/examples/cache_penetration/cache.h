/* SPDX-License-Identifier: MIT
 * The cache: a redis-server on a socket in the example's folder. */
#ifndef WEIR_EXAMPLES_CACHE_H
#define WEIR_EXAMPLES_CACHE_H

#include <hiredis/hiredis.h>
#include "child.h"

enum { CACHED_SECONDS = 60 };

static char cache_socket[NAME];
static pid_t cache_server;

static void cache_stop(void)
{
	stop_child(cache_server, SIGTERM);
}

static void cache_start(const char *folder)
{
	char *argv[] = { "redis-server", "--port", "0", "--unixsocket", cache_socket, "--save", "",
	                 "--appendonly", "no", "--logfile", "/dev/null", "--dir", "/", NULL };
	snprintf(cache_socket, NAME, "%s/redis.socket", folder);
	cache_server = start_child(NULL, argv);
	atexit(cache_stop);
}

static redisContext *cache_open(void)
{
	redisContext *c = NULL;
	for (double until = seconds() + 60; seconds() < until; usleep(2000)) {
		c = redisConnectUnix(cache_socket);
		if (c && !c->err)
			return c;
		if (c)
			redisFree(c);
		if (child_ended(&cache_server))
			break;
	}
	fprintf(stderr, "no redis-server at %s\n", cache_socket);
	exit(SKIPPED);
}

static void cache_empty(void)
{
	redisContext *c = cache_open();
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
