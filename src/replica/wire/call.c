/* SPDX-License-Identifier: MIT
 * Commands, and what becomes of the connection after each answer. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/error.h>
#include "link.h"

enum { REDIRECTS = 5, HEARD = 1000 };

/* "MOVED 3999 127.0.0.1:6381" of a Cluster: the host may be empty, then it is the same.
 * Return: whether it is such an answer. */
static bool redirected(const struct weir_wire *w, const redisReply *r, const char *word,
                       struct weir_host *host, char room[WEIR_HOST_TEXT])
{
	const struct weir_address *a = &w->manner.address;
	if (!weir__reply_is(r, word) || a->path || a->sentinel)
		return false;
	const char *at = strrchr(r->str, ' '), *colon = strrchr(r->str, ':');
	if (!at || !colon || colon < at)
		return false;
	size_t len = (size_t)(colon - at - 1);
	const char *name = len ? at + 1 : w->host; /* who answers */
	len = len ? len : strlen(w->host);
	return weir__host_take(host, room, name, len, colon + 1);
}

static int call_asking(struct weir_wire *w, const struct weir_host *host, const struct iovec *args,
                       size_t n, redisReply **reply)
{
	struct weir_link other = { .stream = { .fd = -1 } };
	const struct iovec asking[] = { { (void *)(uintptr_t)"ASKING", 6 } };
	int err = weir__wire_link(w, &other, host);
	if (err)
		return err;
	err = weir__link_call(&other, &w->manner, asking, 1, reply);
	if (!err) {
		freeReplyObject(*reply);
		err = weir__link_call(&other, &w->manner, args, n, reply);
		w->number++; /* what was written there, no WAIT here means */
	}
	weir__link_close(&other);
	return err;
}

/* One call and where it leads. *reply NULL and 0: again, elsewhere. */
static int call_once(struct weir_wire *w, const struct iovec *args, size_t n, redisReply **reply)
{
	struct weir_host host;
	char room[WEIR_HOST_TEXT];
	int err = weir__wire_connect(w);
	if (!err)
		err = weir__link_call(&w->link, &w->manner, args, n, reply);
	if (err)
		return err;
	if (redirected(w, *reply, "MOVED", &host, room)) {
		snprintf(w->moved_name, sizeof w->moved_name, "%s", room);
		w->moved = (struct weir_host){ w->moved_name, host.port };
		weir__link_close(&w->link);
	} else if (!redirected(w, *reply, "ASK", &host, room)) {
		return 0;
	} else {
		freeReplyObject(*reply);
		*reply = NULL;
		return call_asking(w, &host, args, n, reply);
	}
	freeReplyObject(*reply);
	*reply = NULL;
	return 0;
}

/* What an error says of the server. */
static int judge(struct weir_wire *w, const redisReply *r)
{
	static const struct {
		const char *word;
		int err;
		bool stays; /* the connection */
	} known[] = {
		{ "LOADING", -EAGAIN, true },      { "BUSY", -EAGAIN, true },
		{ "TRYAGAIN", -EAGAIN, true },     { "MASTERDOWN", -EAGAIN, false },
		{ "CLUSTERDOWN", -EAGAIN, false }, { "READONLY", -EAGAIN, false },
		{ "UNBLOCKED", -EAGAIN, false },   { "NOAUTH", -EACCES, true },
		{ "WRONGPASS", -EACCES, true },
		/* said to whoever connects, before a command is read; then it is closed */
		{ "ERR max number of clients reached", -EAGAIN, false },
		{ "DENIED", -EACCES, false },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (!weir__reply_is(r, known[i].word))
			continue;
		int err = weir_fail(known[i].err, "%s: %.200s", w->link.peer, r->str);
		if (!known[i].stays)
			weir__wire_leave(w);
		return err;
	}
	return 0;
}

int weir__wire_call(struct weir_wire *w, const struct iovec *args, size_t n, redisReply **reply)
{
	int err = 0;
	*reply = NULL;
	for (unsigned i = 0; i <= REDIRECTS && !err && !*reply; i++)
		err = call_once(w, args, n, reply);
	if (!err && !*reply)
		err = weir_fail(-EAGAIN, "%s: sent from one server of the Cluster to another %d "
		                "times", w->link.peer, REDIRECTS);
	if (err) {
		if (err == -ECANCELED)
			weir__link_close(&w->link);
		else if (w->link.stream.fd >= 0)
			weir__wire_leave(w);
		if (*reply)
			freeReplyObject(*reply);
		*reply = NULL;
		return err;
	}
	err = judge(w, *reply);
	if (err) {
		freeReplyObject(*reply);
		*reply = NULL;
	}
	return err;
}

/* ---- a channel ---- */

int weir__wire_subscribe(struct weir_wire *w, const char *channel)
{
	redisReply *reply;
	const struct iovec args[] = { { (void *)(uintptr_t)"SUBSCRIBE", 9 },
		                      { (void *)(uintptr_t)channel, strlen(channel) } };
	int err = weir__wire_call(w, args, 2, &reply);
	if (err)
		return err;
	if (reply->type != REDIS_REPLY_ARRAY)
		err = weir_fail(reply->type == REDIS_REPLY_ERROR ? -EACCES : -EPROTO, "%s: channel "
		                "%s: %.200s", w->link.peer, channel, reply->str ? reply->str : "");
	freeReplyObject(reply);
	if (err)
		weir__link_close(&w->link);
	return err;
}

int weir__wire_heard(struct weir_wire *w)
{
	int heard = 0;
	if (w->link.stream.fd < 0)
		return weir_fail(-ENOTCONN, "no channel is heard");
	while (heard < HEARD) { /* whoever sends without end is heard a piece at a time */
		redisReply *reply;
		int err = weir__link_answer(&w->link, 0, &reply);
		if (err == -EAGAIN)
			break;
		if (err) {
			weir__link_close(&w->link);
			return err;
		}
		freeReplyObject(reply);
		heard++;
	}
	return heard;
}
