/* SPDX-License-Identifier: MIT
 * One connection over a nonblocking socket: connect, authenticate, send commands, receive
 * answers. */
#include "wire.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>
#include <unistd.h>
#include <weir/error.h>

enum { BYTES_A_MS = 10, /* bytes per millisecond; a slower transfer times out */
       PIECE = 65536,
       ARGUMENTS = 1 << 20,
       COMMAND = 512 << 20 /* limit of a command, since redis refuses larger arguments */ };

/* ---- waiting ---- */

uint64_t weir__limit_end(struct weir_limit limit, uint64_t piece_at, uint64_t begun, size_t bytes)
{
	const uint64_t piece = piece_at + limit.ms;
	const uint64_t all = limit.end ? limit.end : begun + limit.ms + bytes / BYTES_A_MS;
	return piece < all ? piece : all;
}

int weir__stream_wait(const struct weir_stream *s, short events, uint64_t end)
{
	struct pollfd fds[] = { { .fd = s->fd, .events = events },
		                { .fd = s->interrupt, .events = POLLIN } };
	const uint64_t begun = weir__wire_now();
	for (uint64_t now = begun;; now = weir__wire_now()) {
		const uint64_t left = end > now ? end - now : 0;
		int n = poll(fds, 2, left < INT32_MAX ? (int)left : INT32_MAX);
		if (n < 0 && errno != EINTR)
			return weir_fail(-errno, "%s: poll: %s", s->peer, weir_strerror(-errno));
		if (n > 0 && fds[1].revents)
			return weir_fail(-ECANCELED, "%s: interrupted", s->peer);
		if (n > 0)
			return 0;
		if (n == 0 && left == 0)
			return weir_fail(-ETIMEDOUT, "%s: nothing within %u ms", s->peer,
			                 (unsigned)(now - begun));
	}
}

int weir__stream_failed(const struct weir_stream *s, int err)
{
	if (err == -EAGAIN || err == -EINTR)
		return -EAGAIN;
	if (err == 0 || err == -EPIPE)
		return weir_fail(-ECONNRESET, "%s: the other end has closed the connection",
		                 s->peer);
	return weir_fail(err, "%s: %s", s->peer, weir_strerror(err));
}

/* ---- without TLS ---- */

static int64_t plain_read(struct weir_stream *s, void *data, size_t room, short *events)
{
	ssize_t n = recv(s->fd, data, room, 0);
	*events = POLLIN;
	return n > 0 ? n : weir__stream_failed(s, n < 0 ? -errno : 0);
}

static int64_t plain_write(struct weir_stream *s, const void *data, size_t len, short *events)
{
	ssize_t n = send(s->fd, data, len, MSG_NOSIGNAL);
	*events = POLLOUT;
	return n >= 0 ? n : weir__stream_failed(s, -errno);
}

/* ---- a stream ---- */

static void close_stream(struct weir_stream *s)
{
	if (s->fd >= 0 && s->by->end)
		s->by->end(s);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static int connect_to(struct weir_stream *s, const struct sockaddr *at, socklen_t len,
                      uint64_t end)
{
	static const struct weir_transport plain = { plain_read, plain_write, NULL };
	int one = 1, seconds = 30, of = 0, err = 0;
	socklen_t room = sizeof of;
	s->by = &plain;
	s->fd = socket(at->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->fd < 0 || connect(s->fd, at, len) != 0)
		err = -errno;
	if (err == -EINPROGRESS) {
		err = weir__stream_wait(s, POLLOUT, end);
		if (!err)
			err = getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &of, &room) ? -errno : -of;
	}
	if (err) {
		close_stream(s);
		return err == -ECANCELED || err == -ETIMEDOUT ? err :
			weir_fail(err, "%s: %s", s->peer, weir_strerror(err));
	}
	/* These options are best effort: a Unix socket has no TCP options. */
	(void)setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	(void)setsockopt(s->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
	(void)setsockopt(s->fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
	return 0;
}

static int write_all(struct weir_stream *s, const void *data, size_t len,
                     struct weir_limit limit)
{
	const uint64_t begun = weir__wire_now();
	uint64_t piece_at = begun;
	for (size_t done = 0; done < len;) {
		short events;
		int64_t n = s->by->write(s, (const char *)data + done, len - done, &events);
		if (n > 0)
			piece_at = weir__wire_now();
		if (n == -EAGAIN)
			n = weir__stream_wait(s, events,
			                      weir__limit_end(limit, piece_at, begun, done));
		if (n < 0)
			return (int)n;
		done += (size_t)n;
	}
	return 0;
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
	char *text = NULL;
	const char **at = malloc(n * (sizeof *at + sizeof (size_t)));
	size_t *len = (size_t *)(void *)(at + n);
	for (size_t i = 0; at && i < n; i++) {
		at[i] = args[i].iov_base;
		len[i] = args[i].iov_len;
	}
	int bytes = at ? redisFormatCommandArgv(&text, (int)n, at, len) : -1;
	int err = bytes < 0 ? weir_fail(-ENOMEM, "no memory for a command to %s", w->peer) :
	                      write_all(&w->stream, text, (size_t)bytes, limit);
	redisFreeCommand(text);
	free(at);
	return err;
}

/* Read the bytes that have arrived. @reply: receives NULL if the answer is incomplete. */
static int read_reply(struct weir_wire *w, redisReply **reply, short *events)
{
	static _Thread_local char piece[PIECE];
	for (;;) {
		int err = weir__reader_next(&w->reader, reply);
		if (err || *reply)
			return err;
		int64_t n = w->stream.by->read(&w->stream, piece, sizeof piece, events);
		if (n < 0)
			return n == -EAGAIN ? 0 : (int)n;
		w->piece_at = weir__wire_now();
		err = weir__reader_feed(&w->reader, piece, (size_t)n);
		/* Check for an interruption here too: weir__stream_wait() checks, but this loop
		 * does not wait while bytes keep coming. */
		if (!err && weir__stream_interrupted(&w->stream))
			err = weir_fail(-ECANCELED, "%s: interrupted", w->peer);
		if (err)
			return err;
	}
}

int weir__wire_receive(struct weir_wire *w, struct weir_limit limit, bool waits,
                       redisReply **reply)
{
	for (;;) {
		short events = POLLIN;
		int err = read_reply(w, reply, &events);
		if (err || *reply)
			return err;
		const uint64_t end =
			weir__limit_end(limit, w->piece_at, w->wait_since, w->reader.bytes);
		if (waits)
			err = weir__stream_wait(&w->stream, events, end);
		else if (weir__wire_now() > end)
			err = -ETIMEDOUT;
		if (err == -ETIMEDOUT)
			return weir_fail(err, "%s: no whole answer in time (%zu bytes of it came, "
			                 "the time-out is %u ms): raise the time-out, or see what "
			                 "holds redis up", w->peer, w->reader.bytes, limit.ms);
		if (err || !waits)
			return err;
		if (w->waiting)
			w->waiting(w->waiting_context);
	}
}

void weir__wire_await(struct weir_wire *w)
{
	w->wait_since = w->piece_at = weir__wire_now();
}

int weir__wire_call(struct weir_wire *w, const struct iovec *args, size_t n,
                    struct weir_limit limit, redisReply **reply)
{
	*reply = NULL;
	int err = weir__wire_send(w, args, n, limit);
	weir__wire_await(w);
	return err ? err : weir__wire_receive(w, limit, true, reply);
}

/* ---- errors that concern the server ---- */

const struct weir_server_error *weir__wire_server_error(const redisReply *r)
{
	static const struct weir_server_error known[] = {
		{ "LOADING", -EAGAIN, false, "" },
		{ "BUSY", -EAGAIN, false, "" },
		{ "TRYAGAIN", -EAGAIN, false, "" },
		{ "ASK", -EAGAIN, false, ": wait until the Cluster has moved the slot" },
		{ "MASTERDOWN", -EAGAIN, true, "" },
		{ "CLUSTERDOWN", -EAGAIN, true, "" },
		{ "READONLY", -EAGAIN, true, "" },
		{ "UNBLOCKED", -EAGAIN, true, "" },
		{ "NOAUTH", -EACCES, false, ": set password_file (--password-file)" },
		{ "WRONGPASS", -EACCES, false, ": see user and password" },
		/* A server at its limit of clients sends this before it reads a command, and closes
		 * the connection. */
		{ "ERR max number of clients reached", -EAGAIN, true, "" },
		{ "DENIED", -EACCES, true, "" },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (weir__reply_is(r, known[i].word))
			return &known[i];
	return NULL;
}

/* ---- connect, log in and close ---- */

/* Each address gets an equal share of the remaining time, since one address may hang. */
static int connect_name(struct weir_wire *w, struct weir_server *server, uint64_t end)
{
	const struct weir_host host = { server->name, server->port };
	struct addrinfo *found;
	uint64_t left = 0;
	int err = weir__resolve(&w->stream, &host, end, &found);
	if (err)
		return err;
	for (const struct addrinfo *a = found; a; a = a->ai_next)
		left++;
	for (const struct addrinfo *a = found; a && err != -ECANCELED && !server->len; left--) {
		const uint64_t now = weir__wire_now();
		err = connect_to(&w->stream, a->ai_addr, a->ai_addrlen, now < end ?
		                 now + (end - now) / left : now);
		if (!err)
			memcpy(&server->at, a->ai_addr, server->len = a->ai_addrlen);
		a = a->ai_next;
	}
	freeaddrinfo(found);
	return err;
}

/* A server may repeat the password in an answer. So if @command is AUTH, or the answer contains the
 * password, the message shows only known words of the answer. */
static int login_failed(const struct weir_wire *w, const char *command, const char *password,
                        const redisReply *r)
{
	const struct weir_server_error *v = weir__wire_server_error(r);
	bool secret = strcmp(command, "AUTH") == 0 || (password && strstr(r->str, password));
	return weir_fail(v ? v->err : secret || weir__reply_is(r, "NOPERM") ? -EACCES : -EINVAL,
	                 "%s: %s is refused: %.200s%s", w->peer, command,
	                 !secret ? r->str : v ? v->word : "see user and password",
	                 v ? v->remedy : "");
}

static int log_in(struct weir_wire *w, const struct weir_link_config *m, struct weir_login s,
                  struct weir_limit limit)
{
	char database[16];
	snprintf(database, sizeof database, "%u", (unsigned)m->url.database);
	const struct {
		bool said;
		const char *words[4];
	} all[] = { /* redis before version 6 knows only AUTH without a user */
		{ s.password, { "AUTH", s.user ? s.user : s.password,
			        s.user ? s.password : NULL } },
		{ s.selects && m->url.database, { "SELECT", database } },
		{ s.selects && m->o.client_name, { "CLIENT", "SETNAME", m->o.client_name } },
	};
	int err = 0;
	for (size_t i = 0; i < sizeof all / sizeof *all && !err; i++) {
		struct iovec args[3];
		size_t n = 0;
		redisReply *reply = NULL;
		for (; all[i].said && all[i].words[n]; n++)
			args[n] = weir__wire_text(all[i].words[n]);
		if (n)
			err = weir__wire_call(w, args, n, limit, &reply);
		/* CLIENT SETNAME may fail, since the user may lack the right. */
		if (reply && reply->type == REDIS_REPLY_ERROR && i < 2)
			err = login_failed(w, all[i].words[0], s.password, reply);
		freeReplyObject(reply);
	}
	return err;
}

void weir__wire_close(struct weir_wire *w)
{
	close_stream(&w->stream);
	weir__reader_end(&w->reader);
}

int weir__wire_open(struct weir_wire *w, const struct weir_link_config *m,
                    struct weir_server *server, struct weir_login login, uint64_t end)
{
	struct sockaddr_un path = { .sun_family = AF_UNIX };
	weir__url_print(w->peer, &m->url, server->name, server->port);
	w->stream.peer = w->peer;
	int err = weir__reader_begin(&w->reader, m->o.max_bytes, w->peer);
	if (m->url.path) {
		snprintf(path.sun_path, sizeof path.sun_path, "%s", m->url.path);
		memcpy(&server->at, &path, server->len = sizeof path);
	}
	if (!err)
		err = !server->len ? connect_name(w, server, end) :
			connect_to(&w->stream, (struct sockaddr *)&server->at, server->len, end);
	if (!err && m->tls)
		err = m->tls->begin(m->tls, &w->stream,
		                    m->o.server_name ? m->o.server_name : server->name, end);
	if (!err)
		err = log_in(w, m, login, (struct weir_limit){ m->o.connect_ms, end });
	if (err)
		weir__wire_close(w);
	return err;
}
