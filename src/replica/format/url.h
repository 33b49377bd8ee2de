/* SPDX-License-Identifier: MIT
 * The parts that URLs of redis and of images share. They are cut in place, from left to right. User
 * and password are in a URL, so its callers show only what stands behind them. */
#ifndef WEIR_REPLICA_FORMAT_URL_H
#define WEIR_REPLICA_FORMAT_URL_H

#include <stdbool.h>
#include <stdint.h>

/* %41 -> A. Return: whether all were such; %00 is none. */
bool weir__url_decode(char *text);

/* Decimal digits, at most @most. */
bool weir__url_number(uint32_t *out, const char *text, uint32_t most);

/* USER:PASSWORD@, USER@, :PASSWORD@, or nothing. @end: of the hosts. @user, @password: decoded;
 * NULL: none. Return: what follows; NULL: they are not encoded right. */
char *weir__url_user(char *at, char *end, const char **user, const char **password);

enum weir_url_fault { WEIR_URL_FINE, WEIR_URL_BRACKET, WEIR_URL_PORT, WEIR_URL_HOST };

/* HOST, HOST:PORT, [IPv6]:PORT. @name: also after a fault of the port or the host itself. @port:
 * untouched if there is none. */
enum weir_url_fault weir__url_host(char *at, char **name, uint16_t *port);

#endif
