/* SPDX-License-Identifier: MIT
 * Commands and scripts, and what their errors mean. */
#include <errno.h>
#include <stdlib.h>
#include <hiredis/hiredis.h>
#include <weir/error.h>
#include "../format/scripts.h"
#include "../wire/reply.h"
#include "redis.h"

_Static_assert((int)WEIR_SCRIPT_ELEMENTS < (int)WEIR_REPLY_ELEMENTS, "a reply holds an answer");

enum { ARGUMENTS = 32, TEXT = 400 /* that it cannot save redis says in some 340 bytes */ };

/* Of several scripts each would have a sentence of its own. */
static size_t without_script(const char *text, size_t len)
{
	const char *end = memmem(text, len, " script: ", 9);
	return end ? (size_t)(end - text) : len;
}

int weir__redis_error(const struct weir_redis *r, const char *text, size_t len)
{
	static const struct {
		const char *word;
		int err;
		const char *meaning;
	} known[] = {
		{ "WEIRSTALE", -ESTALE, "the server began anew: its epoch is another" },
		{ "WEIRFULL", -ENOSPC, "the server has no room for inserts" },
		{ "WEIRLEASE", -EPERM, "another has the lease to publish" },
		{ "WEIRBASE", -EEXIST, "another generation was published meanwhile" },
		{ "WEIRCHUNK", -EAGAIN, "a chunk of the image has gone: publish another (if "
		                        "this is a rollback: the record, with --replace)" },
		{ "WEIRCROWD", -E2BIG, "more nodes report than there can be, so nobody can say who "
		                       "lives: somebody makes them up (DEL the set's key nodes)" },
		{ "OOM", -ENOSPC, "the server's memory is full (of what was replaced, "
		                  "images go after two minutes)" },
		{ "NOREPLICAS", -EAGAIN, "the server has too few replicas to take writes" },
		{ "MISCONF", -EAGAIN, "the server cannot save" },
		{ "NOPERM", -EACCES, "the user of the URL may not do that" },
		{ "ERR The user executing the script can't", -EACCES,
		  "a rule (ACL) of the URL's user is lacking, of those that weir's page names" },
		{ "ERR ACL failure in script", -EACCES,
		  "a rule (ACL) of the URL's user is lacking, of those that weir's page names" },
		{ "WRONGTYPE", -EBADMSG, "a key is not weir's" },
		{ "ERR unknown command", -EPROTO, "it has no such command: is it a Sentinel? the "
		                                  "URL of one is redis+sentinel://HOST/MASTER" },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		size_t n = strlen(known[i].word);
		if (len >= n && memcmp(text, known[i].word, n) == 0)
			return weir_fail(known[i].err, "set %s at %s: %s: %.*s", r->keys.set,
			                 weir__wire_peer(r->wire), known[i].meaning,
			                 (int)without_script(text, len < TEXT ? len : TEXT), text);
	}
	return weir_fail(-EPROTO, "set %s at %s: an error that was not expected: %.*s",
	                 r->keys.set, weir__wire_peer(r->wire), (int)(len < TEXT ? len : TEXT),
	                 text);
}

int weir__redis_shape(const struct weir_redis *r, const char *of)
{
	return weir_fail(-EPROTO, "set %s: %s answers to %s in a form that is not its own",
	                 r->keys.set, weir__wire_peer(r->wire), of);
}

/* An answer that is an error becomes one. */
static int settle(const struct weir_redis *r, struct redisReply **reply)
{
	if ((*reply)->type != REDIS_REPLY_ERROR)
		return 0;
	int err = weir__redis_error(r, (*reply)->str, (size_t)(*reply)->len);
	freeReplyObject(*reply);
	*reply = NULL;
	return err;
}

int weir__redis_command(struct weir_redis *r, const struct iovec *args, size_t n,
                        struct redisReply **reply)
{
	int err = weir__wire_call(r->wire, args, n, reply);
	return err ? err : settle(r, reply);
}

static int load(struct weir_redis *r, enum weir_script script)
{
	struct redisReply *reply;
	char *text;
	int err = weir__script_make(&text, script);
	if (err)
		return err;
	const struct iovec args[] = { weir__text("SCRIPT"), weir__text("LOAD"), weir__text(text) };
	err = weir__redis_command(r, args, 3, &reply);
	free(text);
	if (err)
		return err;
	if (reply->type == REDIS_REPLY_STRING && (size_t)reply->len == WEIR_REDIS_SHA)
		memcpy(r->sha[script], reply->str, WEIR_REDIS_SHA);
	else
		err = weir__redis_shape(r, "SCRIPT LOAD");
	freeReplyObject(reply);
	return err;
}

static int call(struct weir_redis *r, enum weir_script script, const struct iovec *given,
                size_t n, struct redisReply **reply)
{
	struct iovec args[3 + WEIR_KEYS + ARGUMENTS] = { weir__text("EVALSHA"),
		weir__text(r->sha[script]), weir__text("5") };
	_Static_assert(WEIR_KEYS == 5, "as the text above");
	for (size_t i = 0; i < WEIR_KEYS; i++)
		args[3 + i] = weir__text(r->keys.of[i]);
	for (size_t i = 0; i < n; i++)
		args[3 + WEIR_KEYS + i] = given[i];
	return weir__wire_call(r->wire, args, 3 + WEIR_KEYS + n, reply);
}

static bool unknown(const struct redisReply *reply)
{
	return reply->type == REDIS_REPLY_ERROR && (size_t)reply->len >= 8 &&
	       memcmp(reply->str, "NOSCRIPT", 8) == 0;
}

int weir__redis_call(struct weir_redis *r, enum weir_script script, const struct iovec *args,
                     size_t n, struct redisReply **reply)
{
	*reply = NULL;
	if (n > ARGUMENTS)
		return weir_fail(-E2BIG, "a script of %zu arguments", n);
	/* again: the server that answered NOSCRIPT may be gone when the script is loaded */
	for (unsigned tries = 0; tries < 3; tries++) {
		int err = r->sha[script][0] ? 0 : load(r, script);
		if (!err)
			err = call(r, script, args, n, reply);
		if (err)
			return err;
		if (!unknown(*reply))
			break;
		freeReplyObject(*reply);
		*reply = NULL;
		r->sha[script][0] = '\0';
	}
	if (!*reply)
		return weir_fail(-EAGAIN, "set %s: %s forgets its scripts", r->keys.set,
		                 weir__wire_peer(r->wire));
	return settle(r, reply);
}
