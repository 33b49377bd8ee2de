/* SPDX-License-Identifier: MIT
 * Commands and scripts, and the meaning of their errors. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "parts.h"

enum { TEXTS = 20 };

const char *weir__number(char text[WEIR_NUMBER_TEXT], uint64_t number)
{
	snprintf(text, WEIR_NUMBER_TEXT, "%" PRIu64, number);
	return text;
}

static bool begins(const char *text, size_t len, const char *word)
{
	return len >= strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

int weir__redis_ids_used_up(const struct weir_redis *r)
{
	return weir_fail(-EOVERFLOW, "set %s: the log's ids are used up, as another client can do: "
	                 "UNLINK %s, and if this does not end, %s too. Nodes make both again",
	                 r->o.set, r->keys.log, r->keys.head);
}

static int error_of(const struct weir_redis *r, const char *text, size_t len)
{
	static const char acl[] = "the user needs the ACL rules that weir's page names";
	static const struct {
		const char *word;
		int err;
		const char *meaning;
	} known[] = {
		{ "WEIRSTALE", -ESTALE, "redis is in another epoch than the generation" },
		{ "WEIRBASE", -EEXIST, "another node published a generation first" },
		{ "WEIRCHUNK", -ENOENT, "a chunk of the image has gone: upload it again" },
		{ "LOADING", -EAGAIN, "redis is loading its data: wait" },
		{ "MASTERDOWN", -EAGAIN, "this replica lost its master: name another server" },
		{ "READONLY", -EAGAIN, "this is a replica: name the master, or a Sentinel" },
		{ "NOREPLICAS", -EAGAIN, "too few replicas to write: see min-replicas-to-write" },
		{ "MISCONF", -EAGAIN, "redis cannot save and takes no writes: see its log" },
		{ "OOM", -ENOSPC, "redis is full: raise maxmemory" },
		{ "NOPERM", -EACCES, acl },
		{ "ERR acl verification failed", -EACCES, acl }, /* if a module calls a command */
		{ "ERR The user executing the script can't", -EACCES, acl },
		{ "ERR ACL failure in script", -EACCES, acl }, /* from Redis 7.2 on */
		{ "WRONGPASS", -EACCES, "user or password is wrong" },
		{ "NOAUTH", -EACCES, "redis asks for a password: give one" },
		{ "WRONGTYPE", -EBADMSG, "a key of the set is not weir's: UNLINK it" },
		{ "ERR unknown command", -EPROTO, "redis 7.0 or later is needed, and no Sentinel" },
		{ "ERR Unsupported option GT", -EPROTO, "redis 7.0 or later is needed" },
		{ "ERR syntax error", -EPROTO, "redis 7.0 or later is needed" },
	};
	if (begins(text, len, "WEIRIDS"))
		return weir__redis_ids_used_up(r);
	const int shown = (int)(len < 300 ? len : 300);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (begins(text, len, known[i].word))
			return weir_fail(known[i].err, "set %s: %s: %.*s", r->o.set,
			                 known[i].meaning, shown, text);
	return weir_fail(-EPROTO, "set %s: redis answers an error that was not expected: %.*s",
	                 r->o.set, shown, text);
}

int weir__redis_bad_answer(const struct weir_redis *r, const char *of)
{
	return weir_fail(-EPROTO, "set %s: redis answers to %s in a form that is not its own",
	                 r->o.set, of);
}

/* Turn an error reply into a negative errno. */
static int check_error(const struct weir_redis *r, struct redisReply **reply)
{
	if ((*reply)->type != REDIS_REPLY_ERROR)
		return 0;
	int err = error_of(r, (*reply)->str, (*reply)->len);
	freeReplyObject(*reply);
	*reply = NULL;
	return err;
}

int weir__redis_command(const struct weir_redis *r, void *link, const struct iovec *args, size_t n,
                        struct redisReply **reply)
{
	*reply = NULL;
	int err = r->o.call(link, args, n, reply);
	return err ? err : check_error(r, reply);
}

static size_t texts(struct iovec args[TEXTS], va_list list)
{
	size_t n = 0;
	for (const char *text; (text = va_arg(list, const char *)) != NULL; n++)
		args[n] = weir__text(text);
	return n;
}

int weir__redis_ask(const struct weir_redis *r, struct redisReply **reply, ...)
{
	struct iovec args[TEXTS];
	struct redisReply *unused;
	va_list list;
	va_start(list, reply);
	int err = weir__redis_command(r, r->o.link, args, texts(args, list),
	                              reply ? reply : &unused);
	va_end(list);
	if (!err && !reply)
		freeReplyObject(unused);
	return err;
}

static int load(const struct weir_redis *r, struct weir_script *script)
{
	struct redisReply *reply;
	int err = weir__redis_ask(r, &reply, "SCRIPT", "LOAD", script->text, NULL);
	if (err)
		return err;
	if (weir__is_string(reply) && reply->len == WEIR_SHA)
		memcpy(script->sha, reply->str, WEIR_SHA);
	else
		err = weir__redis_bad_answer(r, "SCRIPT LOAD");
	freeReplyObject(reply);
	return err;
}

/* If the server does not know the SHA, the script has not run. Then send the script's text with
 * EVAL. In a Cluster EVAL reaches the server of the keys, but SCRIPT LOAD may reach another
 * server. */
static int run(const struct weir_redis *r, struct weir_script *script, struct iovec *args, size_t n,
               struct redisReply **reply)
{
	int err = script->sha[0] ? 0 : load(r, script);
	if (err)
		return err;
	args[0] = weir__text("EVALSHA");
	args[1] = weir__text(script->sha);
	args[2] = weir__text(script->keys);
	err = r->o.call(r->o.link, args, n, reply);
	if (!err && (*reply)->type == REDIS_REPLY_ERROR &&
	    begins((*reply)->str, (*reply)->len, "NOSCRIPT")) {
		freeReplyObject(*reply);
		*reply = NULL;
		args[0] = weir__text("EVAL");
		args[1] = weir__text(script->text);
		err = r->o.call(r->o.link, args, n, reply);
	}
	return err ? err : check_error(r, reply);
}

int weir__redis_script(const struct weir_redis *r, struct weir_script *script,
                       const struct iovec *more, size_t n, struct redisReply **reply, ...)
{
	struct iovec *args = malloc((3 + TEXTS + n) * sizeof *args);
	va_list list;
	*reply = NULL;
	if (!args)
		return weir_fail(-ENOMEM, "set %s: no memory for %zu arguments", r->o.set, n);
	va_start(list, reply);
	size_t given = 3 + texts(args + 3, list);
	va_end(list);
	if (n)
		memcpy(args + given, more, n * sizeof *args);
	int err = run(r, script, args, given + n, reply);
	free(args);
	return err;
}

bool weir__reply_number(const struct redisReply *reply, uint64_t *out)
{
	if (reply->type == REDIS_REPLY_INTEGER && reply->integer >= 0) {
		*out = (uint64_t)reply->integer;
		return true;
	}
	return weir__is_string(reply) && weir__number_read(out, reply->str, reply->len);
}

bool weir__reply_hex(const struct redisReply *reply, uint64_t *out)
{
	return weir__is_string(reply) && weir__hex_read(out, reply->str, reply->len);
}

bool weir__reply_log_id(const struct redisReply *reply, struct weir_log_id *out)
{
	return weir__is_string(reply) && weir__log_id_read(out, reply->str, reply->len);
}

bool weir__reply_version(const struct redisReply *reply, struct weir_version *out)
{
	return weir__is_string(reply) && weir__version_read(out, reply->str, reply->len);
}

static bool is_empty(const struct redisReply *reply)
{
	return reply->type == REDIS_REPLY_NIL || (weir__is_string(reply) && reply->len == 0);
}

bool weir__reply_head(struct redisReply *const *e, struct weir_head *out)
{
	struct weir_head h = { .mark = 0 };
	uint64_t replicas = 0;
	if (!weir__reply_hex(e[0], &h.mark) || !h.mark || !weir__reply_hex(e[1], &h.prev) ||
	    !weir__reply_log_id(e[2], &h.base) || !weir__reply_log_id(e[3], &h.lost) ||
	    !weir__reply_log_id(e[4], &h.last) || !weir__reply_hex(e[5], &h.tag) ||
	    (!is_empty(e[8]) && !weir__reply_number(e[8], &replicas)))
		return false;
	if (!(is_empty(e[6]) && is_empty(e[7])) &&
	    !(weir__reply_version(e[6], &h.version) && h.version.era && h.version.number &&
	      weir__reply_hex(e[7], &h.generation) && h.generation))
		return false;
	h.replicas = replicas > 1000 ? 1000 : (uint32_t)replicas;
	*out = h;
	return true;
}
