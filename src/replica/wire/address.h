/* SPDX-License-Identifier: MIT
 * A URL of redis (wire.h), taken apart. */
#ifndef WEIR_REPLICA_ADDRESS_H
#define WEIR_REPLICA_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEIR_HOSTS = 32, WEIR_HOST_TEXT = 300 };

struct weir_host {
	const char *name; /* of TCP */
	uint16_t port;
};

struct weir_address {
	bool tls, sentinel;
	const char *path; /* of a Unix socket; NULL: TCP */
	const char *user, *password; /* NULL: none */
	const char *master; /* the name that Sentinels know it by */
	uint32_t database;
	size_t n;
	struct weir_host hosts[WEIR_HOSTS]; /* the first is tried first */
	char *text; /* that the others point into */
	size_t text_len;
};

/* Return: 0; -EINVAL what is wrong, without a password in the sentence; -ENOMEM. */
int weir__address_parse(struct weir_address *out, const char *url);
void weir__address_free(struct weir_address *a);
/* The first host failed: it comes last now. */
void weir__address_rotate(struct weir_address *a);
/* "redis://host:port", "unix://path". Return: @text. */
const char *weir__address_print(char text[WEIR_HOST_TEXT], const struct weir_address *a,
                                const struct weir_host *host);

#endif
