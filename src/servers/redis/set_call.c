/* SPDX-License-Identifier: MIT
 * Call commands of the server from within a command. The server checks the user's permission (C),
 * returns errors as replies (E), and sends writes to replicas and the append-only file (!). Replies
 * are converted to hiredis's struct redisReply, so the callers work as with hiredis. This needs
 * hiredis's header, but not its library. */
#include <errno.h>
#include <stdlib.h>
#include "set.h"

enum { ARGUMENTS = 32 };

void freeReplyObject(void *reply)
{
	struct redisReply *r = reply;
	for (size_t i = 0; r && r->element && i < r->elements; i++)
		freeReplyObject(r->element[i]);
	if (r) {
		free(r->element);
		free(r->str);
	}
	free(r);
}

static bool copy_text(struct redisReply *r, const char *at, size_t len)
{
	r->str = malloc(len + 1);
	if (!r->str)
		return false;
	memcpy(r->str, at, len);
	r->str[len] = '\0';
	r->len = len;
	return true;
}

static bool parse_reply(struct redisReply *r, const char **at);

static bool parse_array(struct redisReply *r, size_t n, const char **at)
{
	bool taken = true;
	r->element = calloc(n + 1, sizeof *r->element);
	for (size_t i = 0; r->element && i < n && taken; i++) {
		r->element[i] = calloc(1, sizeof *r->element[i]);
		r->elements = i + 1;
		taken = r->element[i] && parse_reply(r->element[i], at);
	}
	return r->element && taken;
}

/* Parse a reply in RESP2. This server has just written the reply, so it is valid. Return: false if
 * memory is short. */
static bool parse_reply(struct redisReply *r, const char **at)
{
	const char *begin = *at + 1, *line = begin + strcspn(begin, "\r");
	const char kind = begin[-1];
	const long long n = strtoll(begin, NULL, 10);
	*at = line + 2;
	r->type = kind == ':' ? REDIS_REPLY_INTEGER : kind == '+' ? REDIS_REPLY_STATUS :
	          kind == '-' ? REDIS_REPLY_ERROR   : n < 0       ? REDIS_REPLY_NIL :
	          kind == '*' ? REDIS_REPLY_ARRAY   : REDIS_REPLY_STRING;
	r->integer = n;
	if (r->type == REDIS_REPLY_ARRAY)
		return parse_array(r, (size_t)n, at);
	if (r->type != REDIS_REPLY_STRING)
		return copy_text(r, begin, (size_t)(line - begin));
	begin = *at;
	*at += n + 2;
	return copy_text(r, begin, (size_t)n);
}

int set_call(void *context, const struct iovec *args, size_t n, struct redisReply **reply)
{
	struct redis_string *strings[ARGUMENTS];
	const char *name = args[0].iov_base;
	if (n > ARGUMENTS)
		return weir_fail(-E2BIG, "a command of %zu arguments", n);
	for (size_t i = 1; i < n; i++)
		strings[i] = redis.CreateString(context, args[i].iov_base, args[i].iov_len);
	errno = 0;
	struct redis_reply *answer = redis.Call(context, name, "!CEv", strings + 1, n - 1);
	const int why = errno;
	for (size_t i = 1; i < n; i++)
		redis.FreeString(context, strings[i]);
	if (!answer)
		return weir_fail(-EPROTO, "the server does not call %s: errno %d", name, why);
	size_t len;
	const char *text = redis.CallReplyProto(answer, &len);
	*reply = text ? calloc(1, sizeof **reply) : NULL;
	const bool taken = *reply && parse_reply(*reply, &text);
	redis.FreeCallReply(answer);
	if (taken)
		return 0;
	freeReplyObject(*reply);
	return weir_fail(-ENOMEM, "no memory for what %s answers", name);
}
