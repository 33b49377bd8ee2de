/* SPDX-License-Identifier: MIT
 * Options and calls of a link, and the errors after which it closes its connection. */
#include "wire.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <weir/error.h>

enum { REDIRECTS = 5 };

struct weir_link {
	struct weir_link *main;      /* the main link, whose server a second link uses */
	struct weir_link_config config; /* set in the main link only */
	pthread_mutex_t lock;        /* guards `server`, which second links read */
	struct weir_server server;   /* the connected server */
	struct weir_server moved;    /* the server that MOVED named */
	bool was_moved;              /* the last answer was MOVED */
	struct weir_wire wire;
	uint64_t number;
	size_t pending;              /* answers not received yet */
};

/* ---- open and close ---- */

static int read_options(struct weir_link *l, const struct weir_link_options *o)
{
	struct weir_link_config *m = &l->config;
	m->o = *o;
	m->o.connect_ms = o->connect_ms ? o->connect_ms : 1000;
	m->o.answer_ms = o->answer_ms ? o->answer_ms : 10000;
	m->o.max_bytes = o->max_bytes ? o->max_bytes : 16 << 20;
	int err = weir__url_read(&m->url, o->url);
	if (err)
		return err;
	weir__url_print(l->wire.peer, &m->url, m->url.hosts[0].name, m->url.hosts[0].port);
	l->wire.waiting = o->waiting;
	l->wire.waiting_context = o->waiting_context;
	if ((o->user || m->url.user) && !o->password && !m->url.password && !o->password_file)
		return weir_fail(-EINVAL, "a user of redis is given and no password: set "
		                 "password_file (--password-file); a password alone is "
		                 "redis://:PASSWORD@HOST");
	if (m->url.tls)
		return weir__tls_make(&m->tls, o);
	if (o->ca_file || o->cert_file || o->key_file || o->server_name || o->insecure)
		return weir_fail(-EINVAL, "ca_file, cert_file, key_file, server_name and insecure "
		                 "are options of TLS: let the URL begin with rediss");
	return 0;
}

static int open_link(struct weir_link **out, const struct weir_link_options *o,
                     struct weir_link *of)
{
	struct weir_link *l = calloc(1, sizeof *l);
	if (!l)
		return weir_fail(-ENOMEM, "no memory for a connection");
	pthread_mutex_init(&l->lock, NULL);
	l->main = of ? of : l;
	snprintf(l->wire.peer, sizeof l->wire.peer, "redis");
	l->wire.stream = (struct weir_stream){ .fd = -1, .peer = l->wire.peer,
		.interrupt = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	int err = l->wire.stream.interrupt < 0 ?
		weir_fail(-errno, "no descriptor to interrupt a connection") :
		of ? 0 : read_options(l, o);
	if (err)
		weir__link_close(l);
	else
		*out = l;
	return err;
}

int weir__link_open(struct weir_link **out, const struct weir_link_options *options)
{
	return open_link(out, options, NULL);
}

int weir__link_open_second(struct weir_link **out, struct weir_link *of)
{
	return open_link(out, NULL, of->main);
}

/* @server: NULL if @l is not connected. */
static void set_server(struct weir_link *l, const struct weir_server *server)
{
	pthread_mutex_lock(&l->lock);
	l->server = server ? *server : (struct weir_server){ .number = 0 };
	pthread_mutex_unlock(&l->lock);
}

static void disconnect(struct weir_link *l)
{
	weir__wire_close(&l->wire);
	l->pending = 0;
	set_server(l, NULL);
}

void weir__link_close(struct weir_link *l)
{
	if (!l)
		return;
	disconnect(l);
	if (l->config.tls)
		l->config.tls->free(l->config.tls);
	weir__url_free(&l->config.url);
	if (l->wire.stream.interrupt >= 0)
		close(l->wire.stream.interrupt);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/* ---- interruption ---- */

void weir__link_interrupt(struct weir_link *l)
{
	(void)eventfd_write(l->wire.stream.interrupt, 1);
}

void weir__link_reset(struct weir_link *l)
{
	eventfd_t n;
	disconnect(l);
	(void)eventfd_read(l->wire.stream.interrupt, &n);
}

/* ---- connect and disconnect ---- */

/* Copy the main link's server. Fails if the main link has reconnected since @l connected. */
static int find_server(struct weir_link *l, struct weir_server *server)
{
	pthread_mutex_lock(&l->main->lock);
	*server = l->main->server;
	pthread_mutex_unlock(&l->main->lock);
	if (l->wire.stream.fd >= 0 && l->server.number != server->number)
		return weir_fail(-ECONNRESET, "%s: closed, since the link beside it has left this "
		                 "connection's server: call again", l->wire.peer);
	return server->number ? 0 : weir_fail(-ENOTCONN, "the link to redis beside this one is not "
	                                      "connected: connect that first");
}

static int connect_link(struct weir_link *l)
{
	struct weir_server server;
	int err = 0;
	if (weir__stream_interrupted(&l->wire.stream))
		return weir_fail(-ECANCELED, "the connection to redis was interrupted");
	if (l->main != l)
		err = find_server(l, &server);
	if (err || l->wire.stream.fd >= 0)
		return err;
	err = l->main != l ? weir__master_connect_at(&l->wire, &l->main->config, &server) :
	                      weir__master_connect(&l->wire, &l->config, &l->moved, &server);
	if (err)
		return err;
	l->number++;
	if (l->main == l)
		server.number = l->number;
	set_server(l, &server);
	return 0;
}

/* Close the connection after an error, since the stream may be out of step, or the server may be
 * unable to serve. -E2BIG keeps the connection, since the link has sent nothing. If the URL names
 * servers of redis, not Sentinels, the main link then tries the URL's next host, since this server
 * may fail again. */
static int disconnect_after(struct weir_link *l, int err)
{
	const bool other = l->wire.stream.fd >= 0 && err != -ECANCELED && l->main == l;
	if (err == -E2BIG)
		return err;
	disconnect(l);
	if (other && !l->moved.port && !l->config.url.sentinel)
		weir__url_rotate(&l->config.url);
	if (other)
		l->moved.port = 0;
	return err;
}

/* ---- calls ---- */

/* Parse a Cluster's "MOVED 3999 127.0.0.1:6381". An empty host means the host that replied. */
static bool moved(struct weir_link *l, const redisReply *r)
{
	const struct weir_url *u = &l->main->config.url;
	const char *at = strrchr(r->str, ' '), *colon = strrchr(r->str, ':');
	if (!weir__reply_is(r, "MOVED") || u->path || u->sentinel || !at || !colon || colon < at)
		return false;
	size_t len = (size_t)(colon - at - 1);
	return weir__server_parse(&l->moved, len ? at + 1 : l->server.name,
	                          len ? len : strlen(l->server.name), colon + 1);
}

/* Turn an error reply about the server into an errno, and close the connection if necessary. */
static int check_reply(struct weir_link *l, redisReply **reply)
{
	const struct weir_server_error *v = weir__wire_server_error(*reply);
	int err = v ? weir_fail(v->err, "%s: %.200s%s", l->wire.peer, (*reply)->str, v->remedy) : 0;
	l->was_moved = (*reply)->type == REDIS_REPLY_ERROR && moved(l, *reply);
	if (l->was_moved)
		err = weir_fail(-EAGAIN, "%s: its keys are at another server of the Cluster by "
		                "now: send all of it again", l->wire.peer);
	if (!err)
		return 0;
	freeReplyObject(*reply);
	*reply = NULL;
	if (l->was_moved)
		disconnect(l);
	else if (v->closes)
		disconnect_after(l, err);
	return err;
}

static struct weir_limit limit_of(const struct weir_link *l, uint32_t ms)
{
	return (struct weir_limit){ ms ? ms : l->main->config.o.answer_ms, 0 };
}

int weir__link_send(struct weir_link *l, const struct iovec *args, size_t n)
{
	int err = connect_link(l);
	l->was_moved = false;
	if (!err && !l->pending && weir__reader_has_unread(&l->wire.reader))
		err = weir_fail(-EPROTO, "%s: sent an answer without a command: see which server "
		                "or proxy answers", l->wire.peer);
	if (!err)
		err = weir__wire_send(&l->wire, args, n, limit_of(l, 0));
	if (err)
		return disconnect_after(l, err);
	if (l->pending++ == 0)
		weir__wire_await(&l->wire);
	return 0;
}

static int receive(struct weir_link *l, uint32_t ms, bool waits, redisReply **reply)
{
	*reply = NULL;
	if (!l->pending)
		return weir_fail(-ENOTCONN, "%s: no answer is owed: send a command first",
		                 l->wire.peer);
	if (waits)
		weir__wire_await(&l->wire);
	int err = weir__wire_receive(&l->wire, limit_of(l, ms), waits, reply);
	if (err)
		return disconnect_after(l, err);
	if (!*reply)
		return 0;
	l->pending--;
	weir__wire_await(&l->wire);
	return check_reply(l, reply);
}

int weir__link_receive(struct weir_link *l, uint32_t ms, redisReply **reply)
{
	return receive(l, ms, true, reply);
}

int weir__link_poll(struct weir_link *l, uint32_t ms, redisReply **reply)
{
	return receive(l, ms, false, reply);
}

int weir__link_call(struct weir_link *l, const struct iovec *args, size_t n, redisReply **reply)
{
	int err;
	*reply = NULL;
	if (l->pending)
		return weir_fail(-EINVAL, "%s: receive the %zu answers that are owed first",
		                 l->wire.peer, l->pending);
	for (unsigned i = 0; i <= REDIRECTS; i++) {
		err = weir__link_send(l, args, n);
		if (!err)
			err = receive(l, 0, true, reply);
		if (!l->was_moved || l->main != l) /* only the main link follows MOVED */
			return err;
	}
	return weir_fail(-EAGAIN, "%s: sent from one server of the Cluster to another %d times",
	                 l->wire.peer, REDIRECTS);
}

/* ---- questions about the server ---- */

int weir__link_fd(const struct weir_link *l)
{
	return l->wire.stream.fd;
}

uint64_t weir__link_connections(const struct weir_link *l)
{
	return l->number;
}

const char *weir__link_peer(const struct weir_link *l)
{
	return l->wire.peer;
}

int weir__link_master_moved(struct weir_link *l)
{
	struct weir_server named;
	if (l->main != l || !l->config.url.sentinel || l->wire.stream.fd < 0)
		return 0;
	int err = weir__master_ask(&l->config, l->wire.stream.interrupt, &named);
	if (err)
		weir__url_rotate(&l->config.url);
	return err ? err :
		named.port != l->server.port || strcmp(named.name, l->server.name) != 0;
}
