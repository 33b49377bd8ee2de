/* SPDX-License-Identifier: MIT
 * URLs of redis, from left to right. The password is in them, so no sentence shows more than what
 * stands behind it. */
#include "link.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <weir/error.h>
#include "format/url.h"

enum { REDIS = 6379, SENTINEL = 26379, DATABASES = 1 << 20 };

static int take_host(struct weir_address *a, char *at)
{
	uint16_t port = a->sentinel ? SENTINEL : REDIS;
	char *name;
	switch (weir__url_host(at, &name, &port)) {
	case WEIR_URL_BRACKET:
		return weir_fail(-EINVAL, "URL of redis: %.100s: a bracket is not closed", at);
	case WEIR_URL_PORT:
		return weir_fail(-EINVAL, "URL of redis: host %.100s: its port is 1 to 65535",
		                 name);
	case WEIR_URL_HOST:
		return weir_fail(-EINVAL, "URL of redis: '%.100s' is no host", name);
	default:
		break;
	}
	if (a->n == WEIR_HOSTS)
		return weir_fail(-EINVAL, "URL of redis: more than %d hosts", WEIR_HOSTS);
	a->hosts[a->n++] = (struct weir_host){ name, port };
	return 0;
}

static int take_hosts(struct weir_address *a, char *at)
{
	for (char *comma; at; at = comma) {
		comma = strchr(at, ',');
		if (comma)
			*comma++ = '\0';
		int err = take_host(a, at);
		if (err)
			return err;
	}
	return 0;
}

static int take_database(struct weir_address *a, const char *at)
{
	if (!*at || weir__url_number(&a->database, at, DATABASES))
		return 0;
	return weir_fail(-EINVAL, "URL of redis: '%.100s' is no number of a database", at);
}

/* HOSTS[/MASTER][/DATABASE] */
static int take_net(struct weir_address *a, char *at)
{
	char *rest = strchr(at, '/');
	if (rest)
		*rest++ = '\0';
	int err = take_hosts(a, at);
	if (err)
		return err;
	if (a->sentinel) {
		char *slash = rest ? strchr(rest, '/') : NULL;
		if (slash)
			*slash = '\0';
		if (!rest || !*rest || !weir__url_decode(rest))
			return weir_fail(-EINVAL, "URL of redis: behind the Sentinels stands the "
			                 "name of the master: redis+sentinel://HOST/NAME");
		a->master = rest;
		rest = slash ? slash + 1 : NULL;
	}
	return rest ? take_database(a, rest) : 0;
}

/* /PATH[?db=DATABASE] */
static int take_unix(struct weir_address *a, char *at)
{
	static const size_t most = sizeof ((struct sockaddr_un *)0)->sun_path - 1;
	char *query = strchr(at, '?');
	if (query)
		*query++ = '\0';
	if (*at != '/' || !weir__url_decode(at) || strlen(at) > most)
		return weir_fail(-EINVAL, "URL of redis: '%.150s' is no path of a socket: it "
		                 "begins with / and has at most %zu bytes", at, most);
	a->path = at;
	if (query && strncmp(query, "db=", 3) != 0)
		return weir_fail(-EINVAL, "URL of redis: '%.100s' is unknown: there is db=NUMBER",
		                 query);
	return query ? take_database(a, query + 3) : 0;
}

static int parse(struct weir_address *a)
{
	static const struct {
		const char *scheme;
		bool tls, sentinel, unix_socket;
	} known[] = {
		{ "redis://", false, false, false },
		{ "rediss://", true, false, false },
		{ "unix://", false, false, true },
		{ "redis+sentinel://", false, true, false },
		{ "rediss+sentinel://", true, true, false },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		size_t n = strlen(known[i].scheme);
		if (strncmp(a->text, known[i].scheme, n) != 0)
			continue;
		a->tls = known[i].tls;
		a->sentinel = known[i].sentinel;
		char *at = a->text + n;
		char *end = at + strcspn(at, known[i].unix_socket ? "/?" : "/");
		at = weir__url_user(at, end, &a->user, &a->password);
		if (!at)
			return weir_fail(-EINVAL, "URL of redis: what stands before @ is not "
			                 "encoded right: %%41 is an A");
		if (strchr(at, '@')) /* nothing of it may be shown */
			return weir_fail(-EINVAL, "URL of redis: in a user or password / ? @ are "
			                 "written %%2F %%3F %%40");
		return known[i].unix_socket ? take_unix(a, at) : take_net(a, at);
	}
	return weir_fail(-EINVAL, "URL of redis: it begins with redis://, rediss://, unix://, "
	                 "redis+sentinel:// or rediss+sentinel://");
}

int weir__address_parse(struct weir_address *out, const char *url)
{
	struct weir_address a = { .n = 0 };
	if (!url)
		return weir_fail(-EINVAL, "there is no URL of redis");
	if (strlen(url) > 8192)
		return weir_fail(-EINVAL, "URL of redis: it has %zu characters", strlen(url));
	a.text = strdup(url);
	if (!a.text)
		return weir_fail(-ENOMEM, "no memory for a URL");
	a.text_len = strlen(url);
	int err = parse(&a);
	if (err)
		weir__address_free(&a);
	else
		*out = a;
	return err;
}

void weir__address_free(struct weir_address *a)
{
	if (a->text)
		explicit_bzero(a->text, a->text_len); /* there are NULs within */
	free(a->text);
	*a = (struct weir_address){ .n = 0 };
}

void weir__address_rotate(struct weir_address *a)
{
	struct weir_host first = a->hosts[0];
	for (size_t i = 1; i < a->n; i++)
		a->hosts[i - 1] = a->hosts[i];
	if (a->n)
		a->hosts[a->n - 1] = first;
}

const char *weir__address_print(char text[WEIR_HOST_TEXT], const struct weir_address *a,
                                const struct weir_host *host)
{
	bool six = host && strchr(host->name, ':');
	if (a->path)
		snprintf(text, WEIR_HOST_TEXT, "unix://%s", a->path);
	else
		snprintf(text, WEIR_HOST_TEXT, "redis%s://%s%s%s:%u", a->tls ? "s" : "",
		         six ? "[" : "", host->name, six ? "]" : "", (unsigned)host->port);
	return text;
}
