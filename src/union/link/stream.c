/* SPDX-License-Identifier: MIT
 * Sockets that do not block, and the waiting for them. */
#include "wire.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>
#include <weir/error.h>

enum { BYTES_A_MS = 10 }; /* the slowest that is borne */

uint64_t weir__limit_end(struct weir_limit limit, uint64_t begun, size_t bytes)
{
	const uint64_t piece = weir__wire_now() + limit.ms;
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
		if (n > 0)
			return !fds[1].revents ? 0 :
				weir_fail(-ECANCELED, "%s: interrupted", s->peer);
		if (n == 0 && left == 0)
			return weir_fail(-ETIMEDOUT, "%s: nothing within %u ms", s->peer,
			                 (unsigned)(now - begun));
	}
}

bool weir__stream_interrupted(const struct weir_stream *s)
{
	struct pollfd fd = { .fd = s->interrupt, .events = POLLIN };
	return poll(&fd, 1, 0) > 0;
}

int weir__stream_closed(const struct weir_stream *s)
{
	return weir_fail(-ECONNRESET, "%s: the other end has closed the connection", s->peer);
}

/* ---- without TLS ---- */

static int64_t failed(const struct weir_stream *s)
{
	if (errno == EAGAIN || errno == EINTR)
		return -EAGAIN;
	return errno == EPIPE ? weir__stream_closed(s) :
	                        weir_fail(-errno, "%s: %s", s->peer, weir_strerror(-errno));
}

static int64_t plain_read(struct weir_stream *s, void *data, size_t room, short *events)
{
	ssize_t n = recv(s->fd, data, room, 0);
	*events = POLLIN;
	return n > 0 ? n : n == 0 ? weir__stream_closed(s) : failed(s);
}

static int64_t plain_write(struct weir_stream *s, const void *data, size_t len, short *events)
{
	ssize_t n = send(s->fd, data, len, MSG_NOSIGNAL);
	*events = POLLOUT;
	return n >= 0 ? n : failed(s);
}

static void plain_end(struct weir_stream *s)
{
	(void)s;
}

static const struct weir_transport plain = { plain_read, plain_write, plain_end };

/* ---- a stream ---- */

int weir__stream_connect(struct weir_stream *s, const struct sockaddr *at, socklen_t len,
                         uint64_t end)
{
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
		weir__stream_end(s);
		return err == -ECANCELED || err == -ETIMEDOUT ? err :
			weir_fail(err, "%s: %s", s->peer, weir_strerror(err));
	}
	/* what fails here, on a Unix socket all of it, only makes it slower */
	(void)setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	(void)setsockopt(s->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
	(void)setsockopt(s->fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
	return 0;
}

int weir__stream_write(struct weir_stream *s, const void *data, size_t len,
                       struct weir_limit limit)
{
	const uint64_t begun = weir__wire_now();
	for (size_t done = 0; done < len;) {
		short events;
		int64_t n = s->by->write(s, (const char *)data + done, len - done, &events);
		if (n == -EAGAIN)
			n = weir__stream_wait(s, events, weir__limit_end(limit, begun, done));
		if (n < 0)
			return (int)n;
		done += (size_t)n;
	}
	return 0;
}

void weir__stream_end(struct weir_stream *s)
{
	if (s->fd < 0)
		return;
	s->by->end(s);
	close(s->fd);
	s->fd = -1;
}
