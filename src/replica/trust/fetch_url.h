/* SPDX-License-Identifier: MIT
 * The URL of an image: the operator's base URL and a manifest's path. User and password are taken
 * out of it, so that it can be shown. */
#ifndef WEIR_REPLICA_TRUST_FETCH_URL_H
#define WEIR_REPLICA_TRUST_FETCH_URL_H

#include <stdbool.h>

enum { WEIR_FETCH_URL = 2048 }; /* characters of a base URL */

struct weir_fetch_url {
	char *shown; /* malloc'ed, without user and password */
	char *user, *password; /* decoded, by libcurl; NULL: none */
};

/* @path: "" for none. @url: freed by the caller, also after a failure.
 * Return: 0; -EINVAL with a sentence that shows no user or password; -ENOMEM. */
int weir__fetch_url(struct weir_fetch_url *url, const char *base, bool allow_http,
                    const char *path);
void weir__fetch_url_free(struct weir_fetch_url *url);

#endif
