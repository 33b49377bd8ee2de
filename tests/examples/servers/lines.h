/* SPDX-License-Identifier: MIT
 * What both servers need beside weir: a listening socket, and requests of one line each. */
#ifndef WEIR_EXAMPLE_LINES_H
#define WEIR_EXAMPLE_LINES_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A socket on the loopback interface; *port 0 takes any, and becomes the one taken. */
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

/* Bytes of a connection that are not a whole line yet. */
struct lines {
	char bytes[4096];
	size_t used;
};

/* Read once; answer(context, line, len) for each whole line. 1: go on; 0: the peer has ended, or
 * sent a line that is too long; -1: nothing to read now, or an error, as errno has it. */
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

/* What does not fit into the socket's buffer is lost: who sends must also read. */
static inline void reply(int s, const char *text)
{
	(void)!send(s, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

#endif
