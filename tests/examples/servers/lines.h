/* SPDX-License-Identifier: MIT
 * The parts of epoll.c and prefork.c that do not use weir: a listening socket, and requests of one
 * line each. */
#ifndef WEIR_EXAMPLE_LINES_H
#define WEIR_EXAMPLE_LINES_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Open a socket on the loopback interface. If *port is 0, the kernel chooses a port. *port receives
 * the number of the port. */
static inline int listen_on(unsigned short *port, int flags)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(*port) };
	socklen_t len = sizeof at;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int one = 1, s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	if (s < 0 || setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
	    bind(s, (struct sockaddr *)&at, sizeof at) < 0 || listen(s, 128) < 0 ||
	    getsockname(s, (struct sockaddr *)&at, &len) < 0)
		return -1;
	*port = ntohs(at.sin_port);
	return s;
}

/* Received bytes that do not make a whole line yet. */
struct lines {
	char bytes[4096];
	size_t used;
};

/* Read once, and call answer(context, line, len) for each whole line. Return: 1 to continue; 0 if
 * the peer has closed or a line is too long; -1 with errno for an error, or if no bytes can be
 * read now. */
static inline int read_lines(struct lines *l, int s,
                             void (*answer)(void *context, char *line, size_t len), void *context)
{
	ssize_t got = read(s, l->bytes + l->used, sizeof l->bytes - l->used);
	if (got <= 0)
		return (int)got;
	l->used += (size_t)got;
	char *line = l->bytes, *end;
	size_t left = l->used;
	while ((end = memchr(line, '\n', left))) {
		*end = 0;
		answer(context, line, (size_t)(end - line));
		left -= (size_t)(end + 1 - line);
		line = end + 1;
	}
	memmove(l->bytes, line, left);
	l->used = left;
	return left < sizeof l->bytes;
}

/* Send as much of @text as fits into the socket's buffer. The rest is lost, so a client must read
 * its answers in time. */
static inline void reply(int s, const char *text)
{
	(void)!send(s, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

#endif
