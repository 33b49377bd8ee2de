/* SPDX-License-Identifier: MIT
 * Scripts and commands, called from within a command. The server checks that the user who sent it
 * may call them (C), and gives their errors as answers (E). What a script writes goes to replicas
 * and the append-only file by itself; what a command writes, because it is asked for (!). */
#include <errno.h>
#include <stdlib.h>
#include "../../replica/format/scripts.h"
#include "set.h"

enum { ARGUMENTS = 3 + WEIR_KEYS + 16 };

int set_shape(const struct set *s, const char *of)
{
	return weir_fail(-EPROTO, "set %s: %s has a form that is not its own", s->keys.set, of);
}

bool set_text(struct redis_reply *reply, struct iovec *out)
{
	if (!reply || redis.CallReplyType(reply) != REDIS_REPLY_STRING)
		return false;
	size_t len = 0;
	const char *text = redis.CallReplyStringPtr(reply, &len);
	*out = weir__bytes(text, len);
	return text != NULL;
}

static int settle(const struct set *s, const char *name, struct redis_reply **reply)
{
	if (!*reply)
		return weir_fail(-EPROTO, "set %s: the server does not call %s: errno %d",
		                 s->keys.set, name, errno);
	if (redis.CallReplyType(*reply) != REDIS_REPLY_ERROR)
		return 0;
	size_t len = 0;
	const char *text = redis.CallReplyStringPtr(*reply, &len);
	int err = weir_fail(-EPROTO, "set %s: %s answers: %.*s", s->keys.set, name,
	                    (int)(len < 300 ? len : 300), text);
	redis.FreeCallReply(*reply);
	*reply = NULL;
	return err;
}

int set_command(const struct set *s, const char *name, const struct iovec *args, size_t n,
                struct redis_reply **reply)
{
	struct redis_string *strings[ARGUMENTS];
	if (n > ARGUMENTS)
		return weir_fail(-E2BIG, "a command of %zu arguments", n);
	for (size_t i = 0; i < n; i++)
		strings[i] = redis.CreateString(s->context, args[i].iov_base, args[i].iov_len);
	errno = 0;
	*reply = redis.Call(s->context, name, "!CEv", strings, n);
	int err = settle(s, name, reply);
	for (size_t i = 0; i < n; i++)
		redis.FreeString(s->context, strings[i]);
	return err;
}

int set_script(const struct set *s, enum weir_script script, const struct iovec *args, size_t n,
               struct redis_reply **reply)
{
	struct iovec all[ARGUMENTS];
	char *text;
	int err = weir__script_make(&text, script);
	if (err)
		return err;
	all[0] = weir__text(text);
	all[1] = weir__text("5");
	_Static_assert(WEIR_KEYS == 5, "as the text above");
	for (size_t i = 0; i < WEIR_KEYS; i++)
		all[2 + i] = weir__text(s->keys.of[i]);
	for (size_t i = 0; i < n && 2 + WEIR_KEYS + i < ARGUMENTS; i++)
		all[2 + WEIR_KEYS + i] = args[i];
	err = set_command(s, "EVAL", all, 2 + WEIR_KEYS + n, reply);
	free(text);
	return err;
}
