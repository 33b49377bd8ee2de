/* SPDX-License-Identifier: MIT
 * Addresses of a host, within a time. */
#ifndef WEIR_REPLICA_RESOLVE_H
#define WEIR_REPLICA_RESOLVE_H

#include <netdb.h>
#include "stream.h"

/* @s: for sentences, and its interruption. @out: receives addresses for freeaddrinfo().
 * Return: 0; -EHOSTUNREACH there are none; -ETIMEDOUT none within @milliseconds; -ECANCELED;
 *   -ENOMEM. */
int weir__resolve(const struct weir_byte_stream *s, const char *host, uint16_t port,
                  uint32_t milliseconds, struct addrinfo **out);

#endif
