/* SPDX-License-Identifier: MIT
 * One connection: it is opened, introduces itself, and carries commands. */
#include "wire.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>
#include <weir/error.h>

enum { ARGUMENTS = 1 << 20, PIECE = 65536,
       COMMAND = 512 << 20 }; /* bytes: redis takes no larger argument */

void weir__wire_close(struct weir_wire *w)
{
	weir__stream_end(&w->stream);
	weir__reader_end(&w->reader);
}

/* ---- commands ---- */

int weir__wire_send(struct weir_wire *w, const struct iovec *args, size_t n,
                    struct weir_limit limit)
{
	size_t all = 0;
	for (size_t i = 0; i < n && n <= ARGUMENTS; i++)
		all += args[i].iov_len < COMMAND ? args[i].iov_len : COMMAND;
	if (n == 0 || n > ARGUMENTS || all >= COMMAND)
		return weir_fail(-E2BIG, "a command of %zu arguments and %zu bytes: send 1 to %d, "
		                 "of less than %d", n, all, ARGUMENTS, COMMAND);
	const char **at = malloc(n * sizeof *at);
	size_t *len = malloc(n * sizeof *len);
	for (size_t i = 0; at && len && i < n; i++) {
		at[i] = args[i].iov_base;
		len[i] = args[i].iov_len;
	}
	char *text = NULL;
	int bytes = at && len ? redisFormatCommandArgv(&text, (int)n, at, len) : -1;
	int err = bytes < 0 ? weir_fail(-ENOMEM, "no memory for a command to %s", w->peer) :
	                      weir__stream_write(&w->stream, text, (size_t)bytes, limit);
	redisFreeCommand(text);
	free(at);
	free(len);
	return err;
}

int weir__wire_take(struct weir_wire *w, redisReply **reply)
{
	static _Thread_local char piece[PIECE];
	for (;;) {
		int err = weir__reader_next(&w->reader, reply);
		if (err || *reply)
			return err;
		int64_t n = w->stream.by->read(&w->stream, piece, sizeof piece, &w->events);
		if (n < 0)
			return n == -EAGAIN ? 0 : (int)n;
		w->heard = weir__wire_now();
		err = weir__reader_feed(&w->reader, piece, (size_t)n);
		/* as long as something arrives nothing waits, and only waiting is interrupted */
		if (!err && weir__stream_interrupted(&w->stream))
			err = weir_fail(-ECANCELED, "%s: interrupted", w->peer);
		if (err)
			return err;
	}
}

int weir__wire_receive(struct weir_wire *w, struct weir_limit limit, redisReply **reply)
{
	const uint64_t begun = weir__wire_now();
	for (;;) {
		int err = weir__wire_take(w, reply);
		if (!err && !*reply)
			err = weir__stream_wait(&w->stream, w->events,
			                        weir__limit_end(limit, begun, w->reader.bytes));
		if (err == -ETIMEDOUT && w->reader.bytes)
			return weir_fail(err, "%s: %zu bytes of an answer, and no end of it in "
			                 "time", w->peer, w->reader.bytes);
		if (err || *reply)
			return err;
	}
}

int weir__wire_call(struct weir_wire *w, const struct iovec *args, size_t n,
                    struct weir_limit limit, redisReply **reply)
{
	*reply = NULL;
	int err = weir__wire_send(w, args, n, limit);
	return err ? err : weir__wire_receive(w, limit, reply);
}

/* ---- what an error says of the server ---- */

const struct weir_verdict *weir__wire_judge(const redisReply *r)
{
	static const struct weir_verdict known[] = {
		{ "LOADING", -EAGAIN, false, "" },
		{ "BUSY", -EAGAIN, false, "" },
		{ "TRYAGAIN", -EAGAIN, false, "" },
		{ "ASK", -EAGAIN, false, ": wait until the Cluster has moved the slot" },
		{ "MASTERDOWN", -EAGAIN, true, "" },
		{ "CLUSTERDOWN", -EAGAIN, true, "" },
		{ "READONLY", -EAGAIN, true, "" }, /* another is master by now */
		{ "UNBLOCKED", -EAGAIN, true, "" },
		{ "NOAUTH", -EACCES, false, ": set password_file (--password-file)" },
		{ "WRONGPASS", -EACCES, false, ": see user and password" },
		/* said to whoever connects, before a command is read; then it is closed */
		{ "ERR max number of clients reached", -EAGAIN, true, "" },
		{ "DENIED", -EACCES, true, "" },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (weir__reply_is(r, known[i].word))
			return &known[i];
	return NULL;
}

/* ---- to connect ---- */

/* Each address has its part of the time that is left: behind one that hangs another may serve. */
static int connect_name(struct weir_wire *w, struct weir_place *place, uint64_t end)
{
	const struct weir_host host = { place->name, place->port };
	struct addrinfo *found;
	uint64_t left = 0;
	int err = weir__resolve(&w->stream, &host, end, &found);
	if (err)
		return err;
	for (const struct addrinfo *a = found; a; a = a->ai_next)
		left++;
	err = weir_fail(-EHOSTUNREACH, "%s: this name has no address", w->peer);
	for (const struct addrinfo *a = found; a && err && err != -ECANCELED; a = a->ai_next) {
		const uint64_t now = weir__wire_now();
		err = weir__stream_connect(&w->stream, a->ai_addr, a->ai_addrlen,
		                           now < end ? now + (end - now) / left : now);
		left--;
		if (err)
			continue;
		memcpy(&place->at, a->ai_addr, a->ai_addrlen);
		place->len = a->ai_addrlen;
	}
	freeaddrinfo(found);
	return err;
}

static int say(struct weir_wire *w, const struct iovec *args, size_t n, struct weir_limit limit,
               bool secret)
{
	redisReply *reply;
	int err = weir__wire_call(w, args, n, limit, &reply);
	if (err)
		return err;
	if (reply->type == REDIS_REPLY_ERROR) {
		const struct weir_verdict *v = weir__wire_judge(reply);
		const char *said = secret && v ? v->word : reply->str;
		err = weir_fail(v ? v->err : secret || weir__reply_is(reply, "NOPERM") ? -EACCES :
		                -EINVAL, "%s: %s is refused: %.*s%s", w->peer,
		                (const char *)args[0].iov_base, /* a text */
		                /* of what repeats a password only the first word is shown */
		                secret && !v ? (int)strcspn(said, " ") : 200, said,
		                v ? v->remedy : "");
	}
	freeReplyObject(reply);
	return err;
}

static int introduce(struct weir_wire *w, const struct weir_manner *m, struct weir_speaker s,
                     struct weir_limit limit)
{
	char number[16];
	int err = 0;
	snprintf(number, sizeof number, "%" PRIu32, m->url.database);
	const struct iovec select[] = { weir__wire_text("SELECT"), weir__wire_text(number) };
	if (s.password) { /* the form without a user is that of servers before 6 too */
		const struct iovec auth[] = { weir__wire_text("AUTH"),
			                      weir__wire_text(s.user ? s.user : s.password),
			                      weir__wire_text(s.password) };
		err = say(w, auth, s.user ? 3 : 2, limit, true);
	}
	if (!err && s.selects && m->url.database)
		err = say(w, select, 2, limit, false);
	if (!err && s.selects && m->o.client_name) {
		const struct iovec named[] = { weir__wire_text("CLIENT"),
			                       weir__wire_text("SETNAME"),
			                       weir__wire_text(m->o.client_name) };
		redisReply *reply; /* no matter which: a user may not be allowed to */
		err = weir__wire_call(w, named, 3, limit, &reply);
		if (!err)
			freeReplyObject(reply);
	}
	return err;
}

int weir__wire_open(struct weir_wire *w, const struct weir_manner *m, struct weir_place *place,
                    struct weir_speaker speaker, uint64_t end)
{
	const struct weir_host host = { place->name, place->port };
	struct sockaddr_un path = { .sun_family = AF_UNIX };
	weir__url_print(w->peer, &m->url, &host);
	w->stream.peer = w->peer;
	int err = weir__reader_begin(&w->reader, m->o.max_bytes, w->peer);
	if (m->url.path) {
		snprintf(path.sun_path, sizeof path.sun_path, "%s", m->url.path);
		memcpy(&place->at, &path, place->len = sizeof path);
	}
	if (!err)
		err = place->len ? weir__stream_connect(&w->stream, (struct sockaddr *)&place->at,
		                                        place->len, end) :
		                   connect_name(w, place, end);
	if (!err && m->tls)
		err = m->tls->begin(m->tls, &w->stream,
		                    m->o.server_name ? m->o.server_name : place->name, end);
	if (!err)
		err = introduce(w, m, speaker, (struct weir_limit){ m->o.connect_ms, end });
	if (err)
		weir__wire_close(w);
	return err;
}
