/* SPDX-License-Identifier: MIT
 * A connection is opened, introduces itself, and carries commands. */
#include "link.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/error.h>
#include "../clock.h"
#include "../format/scripts.h"

enum { ARGUMENTS = 128, PIECE = 65536,
       COMMAND = 512 << 20 }; /* bytes: redis takes no larger argument */

void weir__link_close(struct weir_link *l)
{
	weir__stream_close(&l->stream);
	weir__reply_end(&l->reader);
}

/* Whoever sends a byte now and then has to come to 10 KB a second in the end, and cannot keep
 * anybody from stopping. */
static int check_pace(const struct weir_link *l, uint64_t begun, uint32_t milliseconds)
{
	if (weir__stream_interrupted(&l->stream))
		return weir_fail(-ECANCELED, "%s: interrupted", l->peer);
	if (milliseconds &&
	    weir__now_ms() - begun > (uint64_t)milliseconds + l->reader.bytes / 10)
		return weir_fail(-ETIMEDOUT, "%s: an answer of %zu bytes so far, and no end",
		                 l->peer, l->reader.bytes);
	return 0;
}

int weir__link_answer(struct weir_link *l, uint32_t milliseconds, redisReply **reply)
{
	static _Thread_local char piece[PIECE];
	const uint64_t begun = weir__now_ms();
	for (bool first = true;; first = false) {
		int err = weir__reply_next(&l->reader, reply);
		if (err || *reply)
			return err;
		/* as long as something arrives nothing waits, and only waiting is interrupted */
		err = first ? 0 : check_pace(l, begun, milliseconds);
		if (err)
			return err;
		int64_t n = weir__stream_read(&l->stream, piece, sizeof piece, milliseconds);
		if (n < 0)
			return (int)n;
		err = weir__reply_feed(&l->reader, piece, (size_t)n);
		if (err)
			return err;
	}
}

static int send_command(struct weir_link *l, const struct weir_manner *m, const struct iovec *args,
                        size_t n)
{
	const char *at[ARGUMENTS];
	size_t len[ARGUMENTS], all = 0;
	char *text;
	if (n == 0 || n > ARGUMENTS)
		return weir_fail(-E2BIG, "a command of %zu arguments", n);
	for (size_t i = 0; i < n; i++) {
		at[i] = args[i].iov_base;
		len[i] = args[i].iov_len;
		all += len[i] < COMMAND ? len[i] : COMMAND;
	}
	if (all >= COMMAND)
		return weir_fail(-E2BIG, "a command of more than %d bytes", COMMAND);
	int bytes = redisFormatCommandArgv(&text, (int)n, at, len);
	if (bytes < 0)
		return weir_fail(-ENOMEM, "no memory for a command to %s", l->peer);
	int err = weir__stream_write(&l->stream, text, (size_t)bytes, m->answer_ms);
	redisFreeCommand(text);
	return err;
}

int weir__link_call(struct weir_link *l, const struct weir_manner *m, const struct iovec *args,
                    size_t n, redisReply **reply)
{
	*reply = NULL;
	if (weir__reply_left(&l->reader))
		return weir_fail(-EPROTO, "%s: it answers to what nobody asked", l->peer);
	int err = send_command(l, m, args, n);
	return err ? err : weir__link_answer(l, m->answer_ms, reply);
}

/* ---- to introduce oneself ---- */

static bool is_any(const redisReply *r, const char *const *words)
{
	for (; *words; words++)
		if (weir__reply_is(r, *words))
			return true;
	return false;
}

enum word {
	PLAIN,
	SECRET,   /* an answer that repeats it would show a password */
	COURTESY, /* which a user may not be allowed */
};

static int say(struct weir_link *l, const struct weir_manner *m, const struct iovec *args, size_t n,
               enum word word)
{
	redisReply *reply;
	int err = weir__link_call(l, m, args, n, &reply);
	if (err)
		return err;
	if (reply->type == REDIS_REPLY_ERROR && word != COURTESY) {
		static const char *const no[] = { "WRONGPASS", "NOAUTH", "NOPERM", "ERR AUTH",
			                          "ERR Client sent AUTH", "DENIED", NULL };
		static const char *const not_now[] = { "LOADING", "BUSY", "MASTERDOWN",
			                               "ERR max number of clients reached", NULL };
		bool access = is_any(reply, no), later = is_any(reply, not_now);
		err = weir_fail(access ? -EACCES : later ? -EAGAIN : -EPROTO,
		                "%s: %.*s is refused: %.*s", l->peer, (int)args[0].iov_len,
		                (const char *)args[0].iov_base,
		                word == SECRET ? (int)strcspn(reply->str, " ") : 200, reply->str);
	}
	freeReplyObject(reply);
	return err;
}

static int introduce(struct weir_link *l, const struct weir_manner *m, const struct weir_speaker *s)
{
	char database[16];
	int err = 0;
	if (s->password) {
		const struct iovec args[] = { weir__text("AUTH"),
			                      weir__text(s->user ? s->user : s->password),
			                      weir__text(s->password) };
		/* the form without a user is that of servers before 6 too */
		const struct iovec plain[] = { weir__text("AUTH"), weir__text(s->password) };
		err = s->user ? say(l, m, args, 3, SECRET) : say(l, m, plain, 2, SECRET);
	}
	if (!err && s->selects && m->address.database) {
		snprintf(database, sizeof database, "%" PRIu32, m->address.database);
		const struct iovec args[] = { weir__text("SELECT"), weir__text(database) };
		err = say(l, m, args, 2, PLAIN);
	}
	if (!err && s->selects && m->client_name) {
		const struct iovec args[] = { weir__text("CLIENT"), weir__text("SETNAME"),
			                      weir__text(m->client_name) };
		err = say(l, m, args, 3, COURTESY);
	}
	return err;
}

int weir__link_open(struct weir_link *l, const struct weir_manner *m, const struct weir_host *host,
                    const struct weir_speaker *speaker)
{
	weir__address_print(l->peer, &m->address, host);
	l->stream = (struct weir_byte_stream){ .fd = -1, .interrupt = m->interrupt,
		                               .peer = l->peer };
	int err = weir__reply_begin(&l->reader, m->max_bytes, l->peer);
	if (!err)
		err = weir__stream_connect(&l->stream, m->address.path, host ? host->name : NULL,
		                           host ? host->port : 0, m->connect_ms);
	if (!err && m->tls)
		err = weir__tls_begin(&l->stream, m->tls,
		                      m->server_name ? m->server_name : host->name,
		                      m->connect_ms);
	if (!err)
		err = introduce(l, m, speaker);
	if (err)
		weir__link_close(l);
	return err;
}
