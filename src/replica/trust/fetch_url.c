/* SPDX-License-Identifier: MIT
 * libcurl takes URLs apart, so that what is checked is what will be asked. */
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include "format/manifest.h"
#include "trust/fetch_answer.h"

/* A URL that cannot be taken apart is not shown: its password could be anywhere. */
static int not_parsed(const char *why)
{
	return weir_fail(-EINVAL, "base_url cannot be used (it is not shown, since it may have a "
	                 "password): %s", why);
}

/* Before libcurl, which is more lenient. */
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

/* @part: receives it, or stays NULL if there is none. */
static int take(CURLU *u, CURLUPart what, char **part)
{
	CURLUcode code = curl_url_get(u, what, part, CURLU_URLDECODE);
	if (code == CURLUE_NO_USER || code == CURLUE_NO_PASSWORD)
		return 0;
	if (code == CURLUE_OUT_OF_MEMORY)
		return weir_fail(-ENOMEM, "no memory for a URL");
	return code ? not_parsed(curl_url_strerror(code)) : 0;
}

/* Everything but user and password, and the path. */
static int join(struct weir_fetch_url *url, CURLU *u, const char *path)
{
	char *rest = NULL;
	CURLUcode code = curl_url_set(u, CURLUPART_USER, NULL, 0);
	if (!code)
		code = curl_url_set(u, CURLUPART_PASSWORD, NULL, 0);
	if (!code)
		code = curl_url_get(u, CURLUPART_URL, &rest, 0);
	if (code)
		return code == CURLUE_OUT_OF_MEMORY ? weir_fail(-ENOMEM, "no memory for a URL") :
		                                      not_parsed(curl_url_strerror(code));
	size_t len = strlen(rest);
	while (len && rest[len - 1] == '/')
		len--;
	int n = asprintf(&url->shown, "%.*s/%s", (int)len, rest, path);
	curl_free(rest);
	if (n < 0) {
		url->shown = NULL;
		return weir_fail(-ENOMEM, "no memory for a URL");
	}
	return 0;
}

static int parse(struct weir_fetch_url *url, CURLU *u, const char *base, const char *path)
{
	CURLUcode code = curl_url_set(u, CURLUPART_URL, base, 0);
	if (code)
		return code == CURLUE_OUT_OF_MEMORY ? weir_fail(-ENOMEM, "no memory for a URL") :
		                                      not_parsed(curl_url_strerror(code));
	int err = take(u, CURLUPART_USER, &url->user);
	if (!err)
		err = take(u, CURLUPART_PASSWORD, &url->password);
	if (!err)
		err = join(url, u, path);
	if (!err && (url->user || url->password) && strncmp(base, "https://", 8) != 0)
		err = weir_fail(-EINVAL, "%s: its user and password would be sent in the clear by "
		                "http", url->shown);
	return err;
}

int weir__fetch_url(struct weir_fetch_url *url, const char *base, bool allow_http,
                    const char *path)
{
	*url = (struct weir_fetch_url){ NULL, NULL, NULL };
	if (!base)
		return weir_fail(-EINVAL, "base_url is NULL");
	if (*path && !weir__manifest_path_is(path, strlen(path)))
		return weir_fail(-EINVAL, "\"%s\" is no path below a base URL", path);
	int err = check_text(base, allow_http);
	if (err)
		return err;
	CURLU *u = curl_url();
	err = u ? parse(url, u, base, path) : weir_fail(-ENOMEM, "no memory for a URL");
	curl_url_cleanup(u);
	return err;
}

/* libcurl's strings are its own to free. */
static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	curl_free(text);
}

void weir__fetch_url_free(struct weir_fetch_url *url)
{
	free(url->shown);
	wipe(url->user);
	wipe(url->password);
	*url = (struct weir_fetch_url){ NULL, NULL, NULL };
}
