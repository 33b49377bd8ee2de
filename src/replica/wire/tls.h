/* SPDX-License-Identifier: MIT
 * TLS by OpenSSL, where the build has it. */
#ifndef WEIR_REPLICA_TLS_H
#define WEIR_REPLICA_TLS_H

#include "stream.h"

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
