/* SPDX-License-Identifier: MIT
 * Sockets that do not block, and the waiting for them. */
#include "stream.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <weir/error.h>
#include "../clock.h"

int weir__stream_wait(const struct weir_byte_stream *s, short events, uint32_t milliseconds)
{
	int64_t end = (int64_t)weir__now_ms() + milliseconds;
	struct pollfd fds[] = { { .fd = s->fd, .events = events },
		                { .fd = s->interrupt, .events = POLLIN } };
	for (;;) {
		int64_t left = end - (int64_t)weir__now_ms();
		int n = poll(fds, 2, left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left);
		if (n < 0 && errno != EINTR)
			return weir_fail(-errno, "%s: cannot be waited for", s->peer);
		if (fds[1].revents)
			return weir_fail(-ECANCELED, "%s: interrupted", s->peer);
		if (n > 0)
			return 0;
		if (n == 0 && left <= 0)
			return weir_fail(-ETIMEDOUT, "%s: nothing within %u ms", s->peer,
			                 milliseconds);
	}
}

bool weir__stream_interrupted(const struct weir_byte_stream *s)
{
	struct pollfd fd = { .fd = s->interrupt, .events = POLLIN };
	return poll(&fd, 1, 0) > 0;
}

/* ---- to connect ---- */

static int finish(struct weir_byte_stream *s, uint32_t milliseconds)
{
	int err = weir__stream_wait(s, POLLOUT, milliseconds), of = 0;
	socklen_t len = sizeof of;
	if (err)
		return err;
	if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &of, &len) != 0)
		of = errno;
	return -of;
}

static int try(struct weir_byte_stream *s, int family, const struct sockaddr *address,
               socklen_t len, uint32_t milliseconds)
{
	s->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		return weir_fail(-errno, "%s: no socket: %s", s->peer, weir_strerror(-errno));
	int err = connect(s->fd, address, len) == 0 ? 0 : -errno;
	if (err == -EINPROGRESS)
		err = finish(s, milliseconds);
	if (err && err != -ECANCELED && err != -ETIMEDOUT)
		(void)weir_fail(err, "%s: %s", s->peer, weir_strerror(err));
	if (err)
		weir__stream_close(s);
	return err;
}

static int connect_unix(struct weir_byte_stream *s, const char *path, uint32_t milliseconds)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	return try(s, AF_UNIX, (const struct sockaddr *)&address, sizeof address, milliseconds);
}

static void set_options(int fd)
{
	int one = 1, seconds = 30;
	/* what fails here only makes it slower */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
}

/* Each address has its part of the time that is left: behind one that hangs another may serve. */
static int try_all(struct weir_byte_stream *s, const struct addrinfo *all, int64_t end)
{
	int left = 0, err = -EHOSTUNREACH;
	for (const struct addrinfo *a = all; a; a = a->ai_next)
		left++;
	for (const struct addrinfo *a = all; a && err && err != -ECANCELED; a = a->ai_next) {
		int64_t ms = (end - (int64_t)weir__now_ms()) / left--;
		err = try(s, a->ai_family, a->ai_addr, a->ai_addrlen, ms > 1 ? (uint32_t)ms : 1);
	}
	return err;
}

static int connect_host(struct weir_byte_stream *s, const char *host, uint16_t port,
                        uint32_t milliseconds)
{
	struct addrinfo *found;
	int64_t end = (int64_t)weir__now_ms() + milliseconds;
	int err = weir__resolve(s, host, port, milliseconds, &found);
	if (err)
		return err;
	err = try_all(s, found, end);
	freeaddrinfo(found);
	if (!err)
		set_options(s->fd);
	return err;
}

int weir__stream_connect(struct weir_byte_stream *s, const char *path, const char *host,
                         uint16_t port, uint32_t milliseconds)
{
	return path ? connect_unix(s, path, milliseconds) :
	              connect_host(s, host, port, milliseconds);
}

void weir__stream_close(struct weir_byte_stream *s)
{
	weir__tls_end(s);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* ---- bytes ---- */

static int64_t closed(const struct weir_byte_stream *s)
{
	return weir_fail(-ECONNRESET, "%s: the other end has closed the connection", s->peer);
}

static int64_t plain_write(const struct weir_byte_stream *s, const void *data, size_t len)
{
	ssize_t n = send(s->fd, data, len, MSG_NOSIGNAL);
	if (n >= 0)
		return n;
	if (errno == EAGAIN || errno == EINTR)
		return -EAGAIN;
	return errno == EPIPE ? closed(s) :
	                        weir_fail(-errno, "%s: %s", s->peer, weir_strerror(-errno));
}

static int64_t plain_read(const struct weir_byte_stream *s, void *data, size_t room)
{
	ssize_t n = recv(s->fd, data, room, 0);
	if (n > 0)
		return n;
	if (n == 0)
		return closed(s);
	return errno == EAGAIN || errno == EINTR ? -EAGAIN :
	       weir_fail(-errno, "%s: %s", s->peer, weir_strerror(-errno));
}

int weir__stream_write(struct weir_byte_stream *s, const void *data, size_t len,
                       uint32_t milliseconds)
{
	const char *at = data;
	while (len) {
		short events = POLLOUT;
		int64_t n = s->tls ? weir__tls_write(s, at, len, &events) :
		                     plain_write(s, at, len);
		if (n == -EAGAIN)
			n = weir__stream_wait(s, events, milliseconds);
		if (n < 0)
			return (int)n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int64_t weir__stream_read(struct weir_byte_stream *s, void *data, size_t room,
                          uint32_t milliseconds)
{
	for (;;) {
		short events = POLLIN;
		int64_t n = s->tls ? weir__tls_read(s, data, room, &events) :
		                     plain_read(s, data, room);
		if (n != -EAGAIN || !milliseconds)
			return n;
		int err = weir__stream_wait(s, events, milliseconds);
		if (err)
			return err;
	}
}
