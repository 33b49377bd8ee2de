/* SPDX-License-Identifier: MIT
 * The two ends of a fetch: the URL of an image, and the server's answer. */
#ifndef WEIR_REPLICA_TRUST_FETCH_ANSWER_H
#define WEIR_REPLICA_TRUST_FETCH_ANSWER_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The URL of an image: the operator's base URL and a manifest's path. User and password are taken
 * out of it, so that it can be shown. */

enum { WEIR_FETCH_URL = 2048 }; /* characters of a base URL */

struct weir_fetch_url {
	char *shown; /* malloc'ed, without user and password */
	const char *user, *password; /* decoded; NULL: none */
	char *text; /* malloc'ed, that those two point into */
	size_t text_len;
};

/* @path: "" for none. @url: freed by the caller, also after a failure.
 * Return: 0; -EINVAL with a sentence that shows no user or password; -ENOMEM. */
int weir__fetch_url(struct weir_fetch_url *url, const char *base, bool allow_http,
                    const char *path);
void weir__fetch_url_free(struct weir_fetch_url *url);

/* A server's answer: may it be taken, is it the rest of what came before, and where do its bytes
 * go? All that a server says is doubted here. */

enum {
	WEIR_FETCH_VALIDATOR = 256, /* characters of one that is used */
	WEIR_FETCH_HEADERS = 64 << 10, /* bytes of all headers of a try */
};

/* One image, over all tries. */
struct weir_fetched {
	CURLM *all; /* of one */
	CURL *curl;
	const char *url; /* as it is shown */
	unsigned char *to;
	uint64_t bytes, got;
	_Atomic uint64_t *here; /* receives got; NULL: nobody asks */
	/* of what came: the ETag or Last-Modified; "": there is none that is strong */
	char validator[WEIR_FETCH_VALIDATOR + 1];

	/* of this try */
	bool asked_rest, judged, again;
	size_t headers;
	int err; /* of the answer, with its sentence; @again: another try may help */
};

/* Begin a try. */
void weir__fetch_answer_begin(struct weir_fetched *f);
/* For CURLOPT_HEADERFUNCTION and CURLOPT_WRITEFUNCTION, with the struct. */
size_t weir__fetch_header(char *text, size_t size, size_t n, void *fetched);
size_t weir__fetch_body(char *bytes, size_t size, size_t n, void *fetched);
/* When the transfer has ended without an error: was it a good answer, and is it all there?
 * Return: 0 or @f->err. */
int weir__fetch_answer_end(struct weir_fetched *f);

#endif
