/* SPDX-License-Identifier: MIT
 * Bytes to and from the other end, with or without TLS. Nothing waits longer than it may, and
 * whoever interrupts ends every waiting. */
#ifndef WEIR_REPLICA_STREAM_H
#define WEIR_REPLICA_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weir_tls;

struct weir_byte_stream {
	int fd;               /* -1: none */
	int interrupt;        /* eventfd: readable from the interruption on */
	void *tls;            /* SSL of OpenSSL; NULL: none */
	const char *peer;     /* for sentences */
};

/* Connect to a Unix socket (@path), or to a host's addresses in turn.
 * @milliseconds: in all, for its name too.
 * Return: 0; -ETIMEDOUT, -ECONNREFUSED, -EHOSTUNREACH, ...; -ECANCELED. */
int weir__stream_connect(struct weir_byte_stream *s, const char *path, const char *host,
                         uint16_t port, uint32_t milliseconds);
/* Write all. @milliseconds: until the next piece of it was taken.
 * Return: 0, -ETIMEDOUT, -ECONNRESET, -ECANCELED. */
int weir__stream_write(struct weir_byte_stream *s, const void *data, size_t len,
                       uint32_t milliseconds);
/* Read what is there, at least a byte; 0 milliseconds: do not wait.
 * Return: how many bytes; -EAGAIN nothing is there, without waiting; -ETIMEDOUT, -ECONNRESET,
 *   -ECANCELED. */
int64_t weir__stream_read(struct weir_byte_stream *s, void *data, size_t room,
                          uint32_t milliseconds);
void weir__stream_close(struct weir_byte_stream *s);

bool weir__stream_interrupted(const struct weir_byte_stream *s);
/* Wait for @events of the descriptor. Return: 0, -ETIMEDOUT, -ECANCELED. */
int weir__stream_wait(const struct weir_byte_stream *s, short events, uint32_t milliseconds);

#endif
