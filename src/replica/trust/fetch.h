/* SPDX-License-Identifier: MIT
 * A generation's image by HTTP: into memory of exactly the size that its manifest says. What comes
 * is only counted here; whether it is the image, its checksum and signature decide.
 *
 * What is asked for is decided by the operator's options and nobody else:
 * - https, or http if allow_http says so. No redirect is followed: the server, or whoever stands
 *   before it, would choose which host of one's network is asked, and with what user.
 * - No proxy, whatever http_proxy and the like say: they are meant for other programs, and one
 *   that is chosen by an environment variable would see the user's password. No .netrc either.
 * - ca_file replaces the system's certificates, it does not add to them.
 * - Nothing compressed is asked for or taken: the size of what comes is known beforehand.
 *
 * A broken transfer goes on where it broke, if the server gave a strong validator of what it sends
 * (If-Range; RFC 9110, 8.8 and 13.1.5) and answers with exactly the rest of the same. Else it
 * begins anew. Both are a try. */
#ifndef WEIR_REPLICA_TRUST_FETCH_H
#define WEIR_REPLICA_TRUST_FETCH_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers that are 0 mean what stands beside them. */
struct weir_fetch_options {
	const char *base_url;     /* https://[USER:PASSWORD@]HOST[:PORT][/FOLDER...] */
	const char *ca_file;      /* certificates that are trusted; NULL: the system's */
	bool allow_http;          /* then without a user: it would be sent in the clear */
	unsigned connect_ms;      /* for each connection: 10,000 */
	unsigned stall_s;         /* this long fewer than 1,000 bytes a second: broken; 30 */
	unsigned tries;           /* in all: 5 */
	unsigned pause_ms;        /* before the second; doubled each time, up to 30 s; 500 */
	bool (*stop)(void *context); /* asked about every 50 ms; NULL: never; calls nothing of
	                              * weir: that could lose a sentence */
	void *context;
	_Atomic uint64_t *here;   /* receives how many bytes are there, as they come; may be NULL */
};

/* Could weir__fetch() use these? Return: 0; -EINVAL the base URL; -ENOTSUP, -ENOMEM as it. */
int weir__fetch_check(const struct weir_fetch_options *o);

/* Fetch base_url/@path. A sentence about it names the URL without user and password.
 * @path: weir__manifest_path_is() it. @to: receives @bytes bytes; after a failure, whatever came.
 * Return: 0; -EINVAL a path or base URL; -ENOTSUP this build has no libcurl; -ENOMEM; -ECANCELED
 *   stop() said so; -ENOENT, -EACCES the server's answers 404, 410 and 401, 403; -EKEYREJECTED its
 *   certificate; -EBADMSG it has something of another size or form; -ETIMEDOUT, -EIO the last try
 *   failed; -EPROTO another answer. */
int weir__fetch(const struct weir_fetch_options *o, const char *path, void *to, uint64_t bytes);

#endif
