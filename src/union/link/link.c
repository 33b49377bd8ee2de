/* SPDX-License-Identifier: MIT
 * Links: options, calls, and what becomes of the connection after each answer. */
#include "wire.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>
#include <weir/error.h>

enum { REDIRECTS = 5, FIRST = 20, MOST = 400 };

struct weir_link {
	struct weir_manner manner;   /* of a link beside another: unused */
	struct weir_link *first;     /* itself, or the link beside which it is */
	pthread_mutex_t lock;        /* guards the first link's place for those beside it */
	struct weir_place place;     /* where it is connected */
	struct weir_place moved;     /* where a Cluster said that the keys are */
	struct weir_wire wire;
	uint64_t number;
	size_t owed;                 /* answers */
	char peer[WEIR_PEER_TEXT];
};

/* ---- open and close ---- */

static int check(const struct weir_link_options *o, const struct weir_url *u)
{
	const char *of_tls = o->ca_file ? "ca_file (--ca-file)" :
	                     o->cert_file   ? "cert_file (--cert-file)" :
	                     o->key_file    ? "key_file (--key-file)" :
	                     o->server_name ? "server_name (--server-name)" :
	                     o->insecure    ? "insecure (--insecure)" : NULL;
	if (of_tls && !u->tls)
		return weir_fail(-EINVAL, "%s is an option of TLS: let the URL begin with rediss",
		                 of_tls);
	if ((o->user || u->user) && !o->password && !u->password && !o->password_file)
		return weir_fail(-EINVAL, "a user of redis is given and no password: set "
		                 "password_file (--password-file); a URL with a password alone "
		                 "is redis://:PASSWORD@HOST");
	return 0;
}

static int make(struct weir_link *l, const struct weir_link_options *o)
{
	struct weir_manner *m = &l->manner;
	m->o = *o;
	m->o.connect_ms = o->connect_ms ? o->connect_ms : 1000;
	m->o.answer_ms = o->answer_ms ? o->answer_ms : 10000;
	m->o.max_bytes = o->max_bytes ? o->max_bytes : 16 << 20;
	int err = weir__url_read(&m->url, o->url);
	if (!err)
		err = check(o, &m->url);
	return err || !m->url.tls ? err : weir__tls_make(&m->tls, o);
}

/* @of: NULL: one of its own options. */
static int open_link(struct weir_link **out, const struct weir_link_options *o,
                     struct weir_link *of)
{
	struct weir_link *l = calloc(1, sizeof *l);
	if (!l)
		return weir_fail(-ENOMEM, "no memory for a connection");
	pthread_mutex_init(&l->lock, NULL);
	l->first = of ? of : l;
	l->wire.stream.fd = -1;
	l->wire.stream.peer = "redis";
	l->wire.stream.interrupt = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int err = l->wire.stream.interrupt < 0 ?
		weir_fail(-errno, "no descriptor to interrupt a connection") : 0;
	if (!err && !of)
		err = make(l, o);
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

int weir__link_open_beside(struct weir_link **out, struct weir_link *of)
{
	return open_link(out, NULL, of->first);
}

/* The place of the first link, as those beside it may see it. */
static void set_place(struct weir_link *l, uint64_t number)
{
	pthread_mutex_lock(&l->lock);
	l->place.number = number;
	pthread_mutex_unlock(&l->lock);
}

static void end(struct weir_link *l)
{
	weir__wire_close(&l->wire);
	l->owed = 0;
	set_place(l, 0);
}

void weir__link_close(struct weir_link *l)
{
	if (!l)
		return;
	end(l);
	if (l->manner.tls)
		l->manner.tls->free(l->manner.tls);
	weir__url_free(&l->manner.url);
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

void weir__link_rest(struct weir_link *l)
{
	eventfd_t n;
	end(l);
	(void)eventfd_read(l->wire.stream.interrupt, &n);
}

bool weir__link_wait(struct weir_link *l, uint32_t ms)
{
	const struct weir_stream none = { .fd = -1, .interrupt = l->wire.stream.interrupt,
		                          .peer = "redis" };
	return weir__stream_wait(&none, 0, weir__wire_now() + ms) != -ECANCELED;
}

unsigned weir__link_backoff(unsigned failures)
{
	unsigned random = 0, most = FIRST;
	for (unsigned i = 1; i < failures && most < MOST; i++)
		most *= 2;
	most = most < MOST ? most : MOST;
	if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
		random = most / 2; /* then all of it */
	return most / 2 + random % (most / 2 + 1);
}

/* ---- connect ---- */

static int connect_beside(struct weir_link *l)
{
	struct weir_link *first = l->first;
	struct weir_place there;
	pthread_mutex_lock(&first->lock);
	there = first->place;
	pthread_mutex_unlock(&first->lock);
	if (l->wire.stream.fd >= 0 && l->place.number != there.number)
		return weir_fail(-ECONNRESET, "%s: closed, since the link beside it has left this "
		                 "connection's server: call again", l->peer);
	if (l->wire.stream.fd >= 0)
		return 0;
	if (!there.number)
		return weir_fail(-ENOTCONN, "the link to redis beside this one is not connected: "
		                 "connect that first");
	l->place = there;
	return weir__master_at(&l->wire, &first->manner, &l->place);
}

static int connect_it(struct weir_link *l)
{
	const bool there = l->wire.stream.fd >= 0;
	struct weir_place place;
	if (weir__stream_interrupted(&l->wire.stream))
		return weir_fail(-ECANCELED, "the connection to redis was interrupted");
	if (there && l->first == l)
		return 0;
	int err = l->first != l ? connect_beside(l) :
		weir__master_connect(&l->wire, &l->manner, &l->moved, &place);
	snprintf(l->peer, sizeof l->peer, "%s", l->wire.peer);
	if (err || there)
		return err;
	l->number++;
	if (l->first == l) {
		place.number = l->number;
		pthread_mutex_lock(&l->lock);
		l->place = place;
		pthread_mutex_unlock(&l->lock);
	}
	return 0;
}

/* After an error: close what may be out of step, or whose server cannot serve. Where there are
 * several, the next one is to another: a server that hangs would be found again. */
static int leave(struct weir_link *l, int err)
{
	const bool there = l->wire.stream.fd >= 0;
	if (err == -E2BIG)
		return err;
	end(l);
	if (!there || err == -ECANCELED || l->first != l)
		return err;
	if (!l->moved.port && !l->manner.url.sentinel)
		weir__url_rotate(&l->manner.url);
	l->moved.port = 0;
	return err;
}

/* ---- calls ---- */

/* "MOVED 3999 127.0.0.1:6381" of a Cluster: the host may be empty, then it is the same. */
static bool moved(struct weir_link *l, const redisReply *r)
{
	const struct weir_url *u = &l->first->manner.url;
	const char *at = strrchr(r->str, ' '), *colon = strrchr(r->str, ':');
	if (u->path || u->sentinel || !at || !colon || colon < at)
		return false;
	size_t len = (size_t)(colon - at - 1);
	return weir__place_take(&l->moved, len ? at + 1 : l->place.name,
	                        len ? len : strlen(l->place.name), colon + 1);
}

/* What an answer means for the link. -ESTALE: MOVED. */
static int settle(struct weir_link *l, redisReply **reply)
{
	const redisReply *r = *reply;
	const struct weir_verdict *v = weir__wire_judge(r);
	int err = v ? weir_fail(v->err, "%s: %.200s%s", l->peer, r->str, v->remedy) : 0;
	if (weir__reply_is(r, "MOVED") && moved(l, r))
		err = weir_fail(-ESTALE, "%s: its keys are at another server of the Cluster by "
		                "now: send all of it again", l->peer);
	if (!err)
		return 0;
	freeReplyObject(*reply);
	*reply = NULL;
	if (err == -ESTALE)
		end(l);
	else if (v->closes)
		leave(l, err);
	return err;
}

static uint32_t limit_of(const struct weir_link *l, uint32_t ms)
{
	return ms ? ms : l->first->manner.o.answer_ms;
}

int weir__link_send(struct weir_link *l, const struct iovec *args, size_t n)
{
	int err = connect_it(l);
	if (!err && !l->owed && weir__reader_left(&l->wire.reader))
		err = weir_fail(-EPROTO, "%s: it answers to what nobody asked", l->peer);
	if (!err)
		err = weir__wire_send(&l->wire, args, n, (struct weir_limit){ limit_of(l, 0), 0 });
	if (err)
		return leave(l, err);
	if (l->owed++ == 0)
		l->wire.begun = l->wire.heard = weir__wire_now();
	return 0;
}

/* @waits: until it is whole. */
static int receive(struct weir_link *l, uint32_t ms, bool waits, redisReply **reply)
{
	const struct weir_limit limit = { limit_of(l, ms), 0 };
	*reply = NULL;
	if (!l->owed)
		return weir_fail(-ENOTCONN, "%s: no answer is owed: send a command first", l->peer);
	int err = waits ? weir__wire_receive(&l->wire, limit, reply) :
	                  weir__wire_take(&l->wire, reply);
	const uint64_t now = weir__wire_now();
	if (!err && !*reply && (now > l->wire.heard + limit.ms ||
	                        now > l->wire.begun + limit.ms + l->wire.reader.bytes / 10))
		err = weir_fail(-ETIMEDOUT, "%s: %zu bytes of an answer within %u ms, and no end "
		                "of it", l->peer, l->wire.reader.bytes, limit.ms);
	if (err)
		return leave(l, err);
	if (!*reply)
		return 0;
	l->owed--;
	l->wire.begun = l->wire.heard = now;
	return settle(l, reply);
}

static int not_moved(int err)
{
	return err == -ESTALE ? -EAGAIN : err;
}

int weir__link_receive(struct weir_link *l, uint32_t ms, redisReply **reply)
{
	return not_moved(receive(l, ms, true, reply));
}

int weir__link_take(struct weir_link *l, uint32_t ms, redisReply **reply)
{
	return not_moved(receive(l, ms, false, reply));
}

int weir__link_call(struct weir_link *l, const struct iovec *args, size_t n, redisReply **reply)
{
	int err = -ESTALE;
	*reply = NULL;
	if (l->owed)
		return weir_fail(-EINVAL, "%s: receive the %zu answers that are owed first",
		                 l->peer, l->owed);
	for (unsigned i = 0; i <= REDIRECTS && err == -ESTALE; i++) {
		err = weir__link_send(l, args, n);
		if (!err)
			err = receive(l, 0, true, reply);
		if (l->first != l) /* it goes where the first one is */
			return not_moved(err);
	}
	return err != -ESTALE ? err :
		weir_fail(-EAGAIN, "%s: sent from one server of the Cluster to another %d times",
		          l->peer, REDIRECTS);
}

/* ---- questions ---- */

int weir__link_fd(const struct weir_link *l)
{
	return l->wire.stream.fd;
}

uint64_t weir__link_number(const struct weir_link *l)
{
	return l->number;
}

const char *weir__link_peer(const struct weir_link *l)
{
	struct weir_link *own = (struct weir_link *)(uintptr_t)l; /* room for the text */
	const struct weir_url *u = &l->first->manner.url;
	return l->peer[0] ? l->peer : weir__url_print(own->peer, u, &u->hosts[0]);
}

int weir__link_master_moved(struct weir_link *l)
{
	struct weir_manner *m = &l->manner;
	struct weir_place named;
	struct addrinfo *found;
	if (l->first != l || !m->url.sentinel || l->wire.stream.fd < 0)
		return 0;
	int err = weir__master_ask(m, l->wire.stream.interrupt, &named);
	if (err) {
		weir__url_rotate(&m->url);
		return err;
	}
	if (named.port == l->place.port && strcmp(named.name, l->place.name) == 0)
		return 0;
	/* Sentinels may name one address in two ways */
	const struct weir_host host = { named.name, named.port };
	err = weir__resolve(&l->wire.stream, &host, weir__wire_now() + m->o.connect_ms, &found);
	if (err)
		return err;
	bool same = false;
	for (const struct addrinfo *a = found; a && !same; a = a->ai_next)
		same = a->ai_addrlen == l->place.len &&
			memcmp(a->ai_addr, &l->place.at, l->place.len) == 0;
	freeaddrinfo(found);
	return !same;
}
