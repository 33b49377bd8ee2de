/* SPDX-License-Identifier: MIT
 * Find the master: a host of the URL, or the server that a Sentinel names. A Sentinel's answer may
 * be stale or wrong, so this file asks the server itself for its role. */
#include "wire.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weir/error.h>

enum { SECRET = 4096 };

static struct weir_limit try_limit(const struct weir_link_config *m)
{
	return (struct weir_limit){ m->o.connect_ms, weir__wire_now() + m->o.connect_ms };
}

static struct weir_server first_host(const struct weir_url *u)
{
	struct weir_server server = { .port = u->hosts[0].port };
	snprintf(server.name, sizeof server.name, "%s", u->hosts[0].name);
	return server;
}

/* Read the first line of a file. @out: has SECRET + 1 bytes. */
static int read_secret(char *out, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int err = fd < 0 || fstat(fd, &st) != 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	ssize_t got = err ? 0 : read(fd, out, SECRET);
	if (got < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (err)
		return weir_fail(err, "password file %s: %s", path, weir_strerror(err));
	out[got] = '\0';
	size_t len = strcspn(out, "\r\n");
	out[len] = '\0';
	return len && len < SECRET ? 0 : weir_fail(-EINVAL, "password file %s: its first line is "
	                                           "%s", path, len ? "too long" : "empty");
}

int weir__master_connect_at(struct weir_wire *w, const struct weir_link_config *m,
                            struct weir_server *server)
{
	char secret[SECRET + 1];
	struct weir_login login = { m->o.user ? m->o.user : m->url.user,
		                        m->o.password ? m->o.password : m->url.password, true };
	int err = m->o.password_file ? read_secret(secret, m->o.password_file) : 0;
	if (m->o.password_file)
		login.password = secret;
	if (!err)
		err = weir__wire_open(w, m, server, login, try_limit(m).end);
	explicit_bzero(secret, sizeof secret);
	return err;
}

bool weir__server_parse(struct weir_server *server, const char *name, size_t len, const char *port)
{
	char *end;
	unsigned long n = *port >= '0' && *port <= '9' ? strtoul(port, &end, 10) : 0;
	if (n == 0 || n > 65535 || *end || len == 0 || len >= WEIR_HOST_NAME)
		return false;
	for (size_t i = 0; i < len; i++)
		if (name[i] <= ' ' || name[i] > '~') /* the name must be printable in an error */
			return false;
	struct weir_server taken = { .port = (uint16_t)n };
	memcpy(taken.name, name, len);
	*server = taken;
	return true;
}

/* ---- Sentinels and the master ---- */

/* @a: the answer { host, port }; nil if the Sentinel does not know @master. */
static int parse_address(const struct weir_wire *w, const redisReply *a, const char *master,
                         struct weir_server *server)
{
	if (a->type == REDIS_REPLY_NIL)
		return weir_fail(-EAGAIN, "%s: this Sentinel knows no master '%s'", w->peer,
		                 master);
	if (weir__reply_is(a, "ERR unknown command"))
		return weir_fail(-EPROTO, "%s: not a Sentinel: for redis itself write "
		                 "redis://HOST, without the name of a master", w->peer);
	if (a->type == REDIS_REPLY_ERROR)
		return weir_fail(weir__reply_is(a, "NOAUTH") || weir__reply_is(a, "NOPERM") ?
		                 -EACCES : -EAGAIN, "%s: %.200s", w->peer, a->str);
	if (a->type != REDIS_REPLY_ARRAY || a->elements != 2 ||
	    a->element[0]->type != REDIS_REPLY_STRING ||
	    a->element[1]->type != REDIS_REPLY_STRING ||
	    !weir__server_parse(server, a->element[0]->str, (size_t)a->element[0]->len,
	                        a->element[1]->str))
		return weir_fail(-EPROTO, "%s: Sentinel's answer is not the host and port of a "
		                 "master", w->peer);
	return 0;
}

int weir__master_ask(const struct weir_link_config *m, int interrupt, struct weir_server *server)
{
	struct weir_wire w = { .stream = { .fd = -1, .interrupt = interrupt } };
	const struct iovec args[] = { weir__wire_text("SENTINEL"),
		                      weir__wire_text("GET-MASTER-ADDR-BY-NAME"),
		                      weir__wire_text(m->url.master) };
	const struct weir_limit limit = try_limit(m);
	const struct weir_login login = { m->o.sentinel_user, m->o.sentinel_password, false };
	struct weir_server sentinel = first_host(&m->url);
	redisReply *reply = NULL;
	int err = weir__wire_open(&w, m, &sentinel, login, limit.end);
	if (!err)
		err = weir__wire_call(&w, args, 3, limit, &reply);
	if (!err)
		err = parse_address(&w, reply, m->url.master, server);
	freeReplyObject(reply);
	weir__wire_close(&w);
	return err;
}

/* Fail unless the server is the master, since a Sentinel may still name a demoted server. */
static int check_role(struct weir_wire *w, const struct weir_link_config *m)
{
	const struct iovec args[] = { weir__wire_text("ROLE") };
	redisReply *r;
	int err = weir__wire_call(w, args, 1, try_limit(m), &r);
	if (!err && r->type == REDIS_REPLY_ERROR)
		err = weir_fail(weir__reply_is(r, "NOPERM") ? -EACCES : -EAGAIN, "%s: ROLE: %.200s",
		                w->peer, r->str);
	else if (!err && (r->type != REDIS_REPLY_ARRAY || r->elements < 1 ||
	                  r->element[0]->type != REDIS_REPLY_STRING ||
	                  strcmp(r->element[0]->str, "master") != 0))
		err = weir_fail(-EAGAIN, "%s: Sentinel calls it the master, and it is not",
		                w->peer);
	freeReplyObject(r);
	if (err)
		weir__wire_close(w);
	return err;
}

static int connect_first(struct weir_wire *w, const struct weir_link_config *m,
                         struct weir_server *server)
{
	*server = first_host(&m->url);
	int err = m->url.sentinel ? weir__master_ask(m, w->stream.interrupt, server) : 0;
	if (!err)
		err = weir__master_connect_at(w, m, server);
	return err || !m->url.sentinel ? err : check_role(w, m);
}

/* A Sentinel that is cut off from the others may name a demoted master until that Sentinel is
 * connected again. So move a Sentinel that did not lead to the master to the end of the list. */
int weir__master_connect(struct weir_wire *w, struct weir_link_config *m, struct weir_server *moved,
                         struct weir_server *server)
{
	int err = -EAGAIN;
	*server = *moved;
	if (moved->port && weir__master_connect_at(w, m, server) == 0)
		return 0;
	moved->port = 0;
	for (size_t i = 0; i == 0 || i < m->url.n; i++) {
		err = connect_first(w, m, server);
		if (!err || err == -ECANCELED)
			return err;
		weir__url_rotate(&m->url);
	}
	return err;
}
