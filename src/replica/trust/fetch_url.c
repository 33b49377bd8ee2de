/* SPDX-License-Identifier: MIT
 * A base URL is refused unless libcurl can only read it as we do: its host ends at the first slash,
 * and what libcurl is given has neither user nor password, query nor fragment. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include "format/manifest.h"
#include "format/url.h"
#include "trust/fetch_answer.h"

/* A URL that cannot be taken apart is not shown: its password could be anywhere. */
static int not_parsed(const char *why)
{
	return weir_fail(-EINVAL, "base_url cannot be used (it is not shown, since it may have a "
	                 "password): %s", why);
}

static int check_text(const char *base, bool allow_http)
{
	bool https = strncmp(base, "https://", 8) == 0;
	if (strlen(base) > WEIR_FETCH_URL)
		return not_parsed("it is longer than 2048 characters");
	if (!https && strncmp(base, "http://", 7) != 0)
		return not_parsed("it begins with neither https:// nor http://");
	if (!https && !allow_http)
		return not_parsed("it begins with http://, which has to be permitted (image_http)");
	if (base[https ? 8 : 7] == '/')
		return not_parsed("it has no host");
	if (strpbrk(base, "?#"))
		return not_parsed("it has a query or fragment (? or #)");
	for (const unsigned char *at = (const unsigned char *)base; *at; at++)
		if (*at <= ' ' || *at >= 0x7f || *at == '\\')
			return not_parsed("it has a blank, a backslash or a byte that is no ASCII");
	return 0;
}

/* @at: behind the scheme, cut in place. */
static int parse(struct weir_fetch_url *url, char *at, bool https, const char *path)
{
	char *rest = at + strcspn(at, "/"), *name;
	uint16_t port;
	char *host = weir__url_user(at, rest, &url->user, &url->password);
	if (!host)
		return not_parsed("its user or password is not encoded right: %41 is an A");
	size_t len = strlen(host);
	while (len && host[len - 1] == '/')
		len--;
	if (asprintf(&url->shown, "http%s://%.*s/%s", https ? "s" : "", (int)len, host, path) < 0) {
		url->shown = NULL;
		return weir_fail(-ENOMEM, "no memory for a URL");
	}
	*rest = '\0';
	if (weir__url_host(host, &name, &port) != WEIR_URL_FINE)
		return not_parsed("its host or port is none");
	if ((url->user || url->password) && !https)
		return weir_fail(-EINVAL, "%s: its user and password would be sent in the clear by "
		                 "http", url->shown);
	return 0;
}

int weir__fetch_url(struct weir_fetch_url *url, const char *base, bool allow_http,
                    const char *path)
{
	*url = (struct weir_fetch_url){ NULL, NULL, NULL, NULL, 0 };
	if (!base)
		return weir_fail(-EINVAL, "base_url is NULL");
	if (*path && !weir__manifest_path_is(path, strlen(path)))
		return weir_fail(-EINVAL, "\"%s\" is no path below a base URL", path);
	int err = check_text(base, allow_http);
	if (err)
		return err;
	url->text = strdup(base);
	if (!url->text)
		return weir_fail(-ENOMEM, "no memory for a URL");
	url->text_len = strlen(base);
	const bool https = base[4] == 's';
	return parse(url, url->text + strlen(https ? "https://" : "http://"), https, path);
}

void weir__fetch_url_free(struct weir_fetch_url *url)
{
	free(url->shown);
	if (url->text)
		explicit_bzero(url->text, url->text_len); /* there are NULs within */
	free(url->text);
	*url = (struct weir_fetch_url){ NULL, NULL, NULL, NULL, 0 };
}
