/* SPDX-License-Identifier: MIT
 * Bytes to and from the other end, with or without TLS. Nothing waits longer than it may, and
 * whoever interrupts ends every waiting. */
#ifndef WEIR_REPLICA_STREAM_H
#define WEIR_REPLICA_STREAM_H

#include <netdb.h>
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

/* ---- addresses of a host, within a time ---- */

/* @s: for sentences, and its interruption. @out: receives addresses for freeaddrinfo().
 * Return: 0; -EHOSTUNREACH there are none; -ETIMEDOUT none within @milliseconds; -ECANCELED;
 *   -ENOMEM. */
int weir__resolve(const struct weir_byte_stream *s, const char *host, uint16_t port,
                  uint32_t milliseconds, struct addrinfo **out);

/* ---- TLS by OpenSSL, where the build has it ---- */

struct weir_tls; /* what is the same for all connections */

/* @ca_file: NULL: the system's authorities.
 * Return: 0; -ENOTSUP, -EINVAL a file will not do; -ENOMEM. */
int weir__tls_make(struct weir_tls **out, const char *ca_file, const char *cert_file,
                   const char *key_file, bool insecure);
void weir__tls_free(struct weir_tls *t);
/* On a connected stream. @name: that the certificate must have.
 * Return: 0; -EKEYREJECTED; -EPROTO; as weir__stream_read(). */
int weir__tls_begin(struct weir_byte_stream *s, struct weir_tls *t, const char *name,
                    uint32_t milliseconds);
void weir__tls_end(struct weir_byte_stream *s);
/* -EAGAIN: wait for @events. */
int64_t weir__tls_write(struct weir_byte_stream *s, const void *data, size_t len, short *events);
int64_t weir__tls_read(struct weir_byte_stream *s, void *data, size_t room, short *events);

#endif
