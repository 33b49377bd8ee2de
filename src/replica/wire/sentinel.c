/* SPDX-License-Identifier: MIT
 * Sentinel is asked for the master. Its answer may be late or wrong: whoever connects asks the
 * server itself for its role. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/error.h>
#include "../format/scripts.h"
#include "link.h"

bool weir__host_take(struct weir_host *host, char room[WEIR_HOST_TEXT], const char *name,
                     size_t len, const char *port)
{
	char *end;
	unsigned long n = *port >= '0' && *port <= '9' ? strtoul(port, &end, 10) : 0;
	if (n == 0 || n > 65535 || *end || len == 0 || len > 255)
		return false;
	for (size_t i = 0; i < len; i++)
		if (name[i] <= ' ' || name[i] > '~') /* it will stand in sentences */
			return false;
	snprintf(room, WEIR_HOST_TEXT, "%.*s", (int)len, name);
	*host = (struct weir_host){ room, (uint16_t)n };
	return true;
}

/* { host, port }, or nothing: it does not know the name. */
static int take(const struct weir_link *l, const redisReply *a, const char *master,
                struct weir_host *host, char room[WEIR_HOST_TEXT])
{
	if (a->type == REDIS_REPLY_NIL)
		return weir_fail(-EAGAIN, "%s: this Sentinel knows no master '%s'", l->peer,
		                 master);
	if (weir__reply_is(a, "ERR unknown command"))
		return weir_fail(-EPROTO, "%s: it is no Sentinel: the URL of a redis itself is "
		                 "redis://HOST, without the name of a master", l->peer);
	if (a->type == REDIS_REPLY_ERROR)
		return weir_fail(weir__reply_is(a, "NOAUTH") || weir__reply_is(a, "NOPERM") ?
		                 -EACCES : -EAGAIN, "%s: %.200s", l->peer, a->str);
	if (a->type != REDIS_REPLY_ARRAY || a->elements != 2 ||
	    a->element[0]->type != REDIS_REPLY_STRING || a->element[1]->type != REDIS_REPLY_STRING)
		return weir_fail(-EPROTO, "%s: that is no answer of a Sentinel", l->peer);
	return weir__host_take(host, room, a->element[0]->str, (size_t)a->element[0]->len,
	                       a->element[1]->str) ?
		0 : weir_fail(-EPROTO, "%s: that is no host and port of a master", l->peer);
}

int weir__sentinel_ask(const struct weir_manner *m, const struct weir_speaker *speaker,
                       const struct weir_host *sentinel, struct weir_host *host,
                       char room[WEIR_HOST_TEXT])
{
	struct weir_link l = { .stream = { .fd = -1 } };
	redisReply *reply;
	int err = weir__link_open(&l, m, sentinel, speaker);
	if (err)
		return err;
	const struct iovec args[] = { weir__text("SENTINEL"), weir__text("GET-MASTER-ADDR-BY-NAME"),
		                      weir__text(m->address.master) };
	err = weir__link_call(&l, m, args, 3, &reply);
	if (!err) {
		err = take(&l, reply, m->address.master, host, room);
		freeReplyObject(reply);
	}
	weir__link_close(&l);
	return err;
}
