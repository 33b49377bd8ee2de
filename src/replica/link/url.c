/* SPDX-License-Identifier: MIT
 * Parse URLs of redis from left to right. A URL may contain a password, so error sentences show
 * only the text after the @. */
#include "wire.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>
#include <weir/error.h>

enum { REDIS = 6379, SENTINEL = 26379, DATABASES = 1 << 20, LONGEST = 8192 };

/* Decode %41 to A, in place. Return: false for %00, or % without two digits. */
static bool decode(char *text)
{
	char *to = text;
	for (const char *at = text; *at; at++) {
		char c = *at;
		if (c == '%') {
			const char two[] = { at[1], at[1] ? at[2] : '\0', '\0' };
			if (!isxdigit((unsigned char)two[0]) || !isxdigit((unsigned char)two[1]))
				return false;
			c = (char)strtoul(two, NULL, 16);
			at += 2;
		}
		if (!c)
			return false;
		*to++ = c;
	}
	*to = '\0';
	return true;
}

static bool number(uint32_t *out, const char *text, uint32_t most)
{
	size_t n = strspn(text, "0123456789");
	unsigned long long value = n && n <= 10 && !text[n] ? strtoull(text, NULL, 10) : UINT64_MAX;
	*out = value <= most ? (uint32_t)value : 0;
	return value <= most;
}

/* HOST, HOST:PORT, [IPv6]:PORT */
static int parse_host(struct weir_url *u, char *at)
{
	uint32_t port = u->sentinel ? SENTINEL : REDIS;
	char *colon = strrchr(at, ':'), *close = *at == '[' ? strchr(at, ']') : NULL;
	if (*at == '[') {
		if (!close || (close[1] && close[1] != ':'))
			return weir_fail(-EINVAL, "URL of redis: %.100s: close the bracket", at);
		colon = close[1] ? close + 1 : NULL;
		*close = '\0';
		at++;
	}
	if (colon)
		*colon = '\0';
	/* The text after a colon may be a password whose @ is missing, so no message shows it. */
	if (colon && (!number(&port, colon + 1, 65535) || port == 0))
		return weir_fail(-EINVAL, "URL of redis: host %.*s: its port is 1 to 65535",
		                 (int)strcspn(at, ":"), at);
	if (!close && strchr(at, ':'))
		return weir_fail(-EINVAL, "URL of redis: host %.*s has two colons: write an IPv6 "
		                 "address in brackets, a password before @",
		                 (int)strcspn(at, ":"), at);
	if (!*at || strlen(at) >= WEIR_HOST_NAME || strpbrk(at, " /?#@"))
		return weir_fail(-EINVAL, "URL of redis: '%.100s' is not a host", at);
	if (u->n == WEIR_URL_HOSTS)
		return weir_fail(-EINVAL, "URL of redis: it has more than %d hosts",
		                 WEIR_URL_HOSTS);
	u->hosts[u->n++] = (struct weir_host){ at, (uint16_t)port };
	return 0;
}

static int parse_database(struct weir_url *u, const char *at)
{
	if (!at || !*at || number(&u->database, at, DATABASES))
		return 0;
	return weir_fail(-EINVAL, "URL of redis: '%.100s' is not the number of a database", at);
}

/* HOSTS[/MASTER][/DATABASE] */
static int parse_net(struct weir_url *u, char *at)
{
	char *rest = strchr(at, '/');
	if (rest)
		*rest++ = '\0';
	for (char *comma; at; at = comma) {
		comma = strchr(at, ',');
		if (comma)
			*comma++ = '\0';
		int err = parse_host(u, at);
		if (err)
			return err;
	}
	if (u->sentinel) {
		u->master = rest;
		rest = rest ? strchr(rest, '/') : NULL;
		if (rest)
			*rest++ = '\0';
		if (!u->master || !*u->master || !decode((char *)(uintptr_t)u->master))
			return weir_fail(-EINVAL, "URL of redis: write the name of the master "
			                 "behind the Sentinels: redis+sentinel://HOST/NAME");
	}
	return parse_database(u, rest);
}

/* /PATH[?db=DATABASE] */
static int parse_unix(struct weir_url *u, char *at)
{
	static const size_t most = sizeof ((struct sockaddr_un *)0)->sun_path - 1;
	char *query = strchr(at, '?');
	if (query)
		*query++ = '\0';
	if (*at != '/' || !decode(at) || strlen(at) > most)
		return weir_fail(-EINVAL, "URL of redis: '%.150s' is not the path of a socket: "
		                 "begin with /, and use at most %zu bytes", at, most);
	u->path = at;
	if (query && strncmp(query, "db=", 3) != 0)
		return weir_fail(-EINVAL, "URL of redis: '%.100s' is unknown: write db=NUMBER",
		                 query);
	return parse_database(u, query ? query + 3 : NULL);
}

/* USER:PASSWORD@, USER@, :PASSWORD@ or nothing. Return: the text after @; NULL: bad encoding. */
static char *parse_user(struct weir_url *u, char *at, const char *end)
{
	char *sign = memrchr(at, '@', (size_t)(end - at));
	if (!sign)
		return at;
	*sign = '\0';
	char *colon = strchr(at, ':');
	if (colon)
		*colon = '\0';
	u->user = *at ? at : NULL;
	u->password = colon ? colon + 1 : NULL;
	return decode(at) && (!colon || decode(colon + 1)) ? sign + 1 : NULL;
}

static int parse_url(struct weir_url *u)
{
	static const char *const schemes[] = { "redis://", "rediss://", "redis+sentinel://",
		                               "rediss+sentinel://", "unix://" };
	enum { TLS = 1, BY_SENTINEL = 2, UNIX = 4, ALL };
	unsigned i = 0;
	while (i < ALL && strncmp(u->text, schemes[i], strlen(schemes[i])) != 0)
		i++;
	if (i == ALL)
		return weir_fail(-EINVAL, "URL of redis: it begins with redis://, rediss://, "
		                 "unix://, redis+sentinel:// or rediss+sentinel://");
	u->tls = i & TLS;
	u->sentinel = i & BY_SENTINEL;
	char *at = u->text + strlen(schemes[i]);
	at = parse_user(u, at, at + strcspn(at, i == UNIX ? "/?" : "/"));
	if (!at)
		return weir_fail(-EINVAL, "URL of redis: what stands before @ is not encoded "
		                 "right: write %%41 for an A");
	if (strchr(at, '@')) /* the text before this @ may belong to the password */
		return weir_fail(-EINVAL, "URL of redis: in a user or password write %%2F %%3F "
		                 "%%40 for / ? @");
	return i == UNIX ? parse_unix(u, at) : parse_net(u, at);
}

int weir__url_read(struct weir_url *out, const char *text)
{
	struct weir_url u = { .len = text ? strlen(text) : 0, .hosts = { { "", 0 } } };
	if (!text || u.len > LONGEST)
		return weir_fail(-EINVAL, "URL of redis: it has %zu characters: 1 to %d are right",
		                 u.len, LONGEST);
	u.text = strdup(text);
	int err = u.text ? parse_url(&u) : weir_fail(-ENOMEM, "no memory for a URL");
	if (err)
		weir__url_free(&u);
	else
		*out = u;
	return err;
}

void weir__url_free(struct weir_url *u)
{
	if (u->text)
		explicit_bzero(u->text, u->len); /* decode() wrote NULs into the text */
	free(u->text);
	*u = (struct weir_url){ .text = NULL };
}

void weir__url_rotate(struct weir_url *u)
{
	struct weir_host first = u->hosts[0];
	memmove(u->hosts, u->hosts + 1, (u->n ? u->n - 1 : 0) * sizeof *u->hosts);
	u->hosts[u->n ? u->n - 1 : 0] = first;
}

void weir__url_print(char text[WEIR_PEER_TEXT], const struct weir_url *u, const char *name,
                     uint16_t port)
{
	bool six = strchr(name, ':');
	if (u->path)
		snprintf(text, WEIR_PEER_TEXT, "unix://%s", u->path);
	else
		snprintf(text, WEIR_PEER_TEXT, "redis%s://%s%s%s:%u", u->tls ? "s" : "",
		         six ? "[" : "", name, six ? "]" : "", (unsigned)port);
}
