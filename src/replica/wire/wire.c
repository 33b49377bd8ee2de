/* SPDX-License-Identifier: MIT
 * Where the master is, and what becomes of the connection after each answer. */
#include "wire.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <weir/error.h>
#include "link.h"
#include "secret.h"

enum { REDIRECTS = 5 };

struct weir_wire {
	struct weir_manner manner;
	char *user, *password, *password_file, *sentinel_user, *sentinel_password;
	struct weir_link link;
	uint64_t number;
	struct weir_host moved;       /* where a Cluster said that the keys are; port 0: nowhere */
	char moved_name[WEIR_HOST_TEXT];
	char peer[WEIR_HOST_TEXT];
};

/* ---- open and close ---- */

static int copy(char **to, const char *text)
{
	*to = text ? strdup(text) : NULL;
	return !text || *to ? 0 : weir_fail(-ENOMEM, "no memory for the options of a connection");
}

static int take_texts(struct weir_wire *w, const struct weir_wire_options *o)
{
	const struct weir_address *a = &w->manner.address;
	int err = copy(&w->user, o->user ? o->user : a->user);
	if (!err)
		err = copy(&w->password, o->password ? o->password : a->password);
	if (!err)
		err = copy(&w->password_file, o->password_file);
	if (!err)
		err = copy(&w->sentinel_user, o->sentinel_user);
	if (!err)
		err = copy(&w->sentinel_password, o->sentinel_password);
	if (!err)
		err = copy(&w->manner.client_name, o->client_name);
	return err ? err : copy(&w->manner.server_name, o->server_name);
}

static int take_tls(struct weir_wire *w, const struct weir_wire_options *o)
{
	if (!w->manner.address.tls) {
		if (o->ca_file || o->cert_file || o->key_file || o->server_name || o->insecure)
			return weir_fail(-EINVAL, "options of TLS, but the URL does not begin with "
			                 "rediss");
		return 0;
	}
	return weir__tls_make(&w->manner.tls, o->ca_file, o->cert_file, o->key_file, o->insecure);
}

static int make(struct weir_wire *w, const struct weir_wire_options *o)
{
	struct weir_manner *m = &w->manner;
	m->connect_ms = o->connect_ms ? o->connect_ms : 5000;
	m->answer_ms = o->answer_ms ? o->answer_ms : 10000;
	m->max_bytes = o->max_bytes ? o->max_bytes : (size_t)256 << 20;
	int err = weir__address_parse(&m->address, o->url);
	if (!err)
		err = take_texts(w, o);
	if (!err && w->user && !w->password && !w->password_file)
		err = weir_fail(-EINVAL, "user %s of redis: there is no password", w->user);
	if (!err)
		err = take_tls(w, o);
	if (err)
		return err;
	m->interrupt = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return m->interrupt < 0 ? weir_fail(-errno, "no descriptor to interrupt a connection") : 0;
}

int weir__wire_open(struct weir_wire **out, const struct weir_wire_options *options)
{
	struct weir_wire *w = calloc(1, sizeof *w);
	if (!w)
		return weir_fail(-ENOMEM, "no memory for a connection");
	w->manner.interrupt = w->link.stream.fd = -1;
	int err = make(w, options);
	if (err)
		weir__wire_close(w);
	else
		*out = w;
	return err;
}

void weir__wire_close(struct weir_wire *w)
{
	if (!w)
		return;
	weir__link_close(&w->link);
	weir__tls_free(w->manner.tls);
	weir__address_free(&w->manner.address);
	if (w->manner.interrupt >= 0)
		close(w->manner.interrupt);
	weir__secret_free(w->password);
	weir__secret_free(w->sentinel_password);
	free(w->user);
	free(w->password_file);
	free(w->sentinel_user);
	free(w->manner.client_name);
	free(w->manner.server_name);
	free(w);
}

/* ---- connect ---- */

static int link_to(struct weir_wire *w, struct weir_link *l, const struct weir_host *host)
{
	char *password = w->password;
	int err = w->password_file ? weir__secret_read(&password, w->password_file) : 0;
	if (err)
		return err;
	const struct weir_speaker speaker = { w->user, password, true };
	err = weir__link_open(l, &w->manner, host, &speaker);
	if (password != w->password)
		weir__secret_free(password);
	return err;
}

/* A server that was demoted is no master, whatever a Sentinel still says. */
static int check_role(struct weir_wire *w)
{
	redisReply *reply;
	const struct iovec args[] = { { (void *)(uintptr_t)"ROLE", 4 } };
	int err = weir__link_call(&w->link, &w->manner, args, 1, &reply);
	if (!err && (reply->type != REDIS_REPLY_ARRAY || reply->elements < 1 ||
	             reply->element[0]->type != REDIS_REPLY_STRING ||
	             strcmp(reply->element[0]->str, "master") != 0))
		err = weir_fail(-EAGAIN, "%s: Sentinel calls it the master, and it is not",
		                w->link.peer);
	if (reply)
		freeReplyObject(reply);
	if (err)
		weir__link_close(&w->link);
	return err;
}

static int connect_by_sentinel(struct weir_wire *w)
{
	const struct weir_speaker speaker = { w->sentinel_user, w->sentinel_password, false };
	struct weir_host host;
	char room[WEIR_HOST_TEXT];
	int err = weir__sentinel_find(&w->manner, &speaker, &host, room);
	if (!err)
		err = link_to(w, &w->link, &host);
	return err ? err : check_role(w);
}

static int connect_to_any(struct weir_wire *w)
{
	const struct weir_address *a = &w->manner.address;
	if (a->path)
		return link_to(w, &w->link, NULL);
	if (w->moved.port && link_to(w, &w->link, &w->moved) == 0)
		return 0;
	w->moved.port = 0;
	int err = -EINVAL;
	for (size_t i = 0; i < a->n && err && err != -ECANCELED; i++)
		err = link_to(w, &w->link, &a->hosts[i]);
	return err;
}

static int connect_if_needed(struct weir_wire *w)
{
	if (weir__wire_interrupted(w))
		return weir_fail(-ECANCELED, "the connection to redis was interrupted");
	if (w->link.stream.fd >= 0)
		return 0;
	int err = w->manner.address.sentinel ? connect_by_sentinel(w) : connect_to_any(w);
	w->number += !err;
	return err;
}

/* ---- call ---- */

/* "MOVED 3999 127.0.0.1:6381": the host may be empty, then it is the same.
 * Return: whether it is such an answer. */
static bool redirected(const struct weir_wire *w, const redisReply *r, const char *word,
                       struct weir_host *host, char room[WEIR_HOST_TEXT])
{
	if (!weir__reply_is(r, word))
		return false;
	const char *at = strrchr(r->str, ' '), *colon = strrchr(r->str, ':');
	if (!at || !colon || colon < at)
		return false;
	unsigned long port = strtoul(colon + 1, NULL, 10);
	size_t len = (size_t)(colon - at - 1);
	if (len >= WEIR_HOST_TEXT || port == 0 || port > 65535)
		return false;
	const char *name = w->moved.port ? w->moved.name : w->manner.address.hosts[0].name;
	if (len)
		snprintf(room, WEIR_HOST_TEXT, "%.*s", (int)len, at + 1);
	else
		snprintf(room, WEIR_HOST_TEXT, "%s", name ? name : "");
	*host = (struct weir_host){ room, (uint16_t)port };
	return *room;
}

static int call_asking(struct weir_wire *w, const struct weir_host *host, const struct iovec *args,
                       size_t n, redisReply **reply)
{
	struct weir_link other = { .stream = { .fd = -1 } };
	const struct iovec asking[] = { { (void *)(uintptr_t)"ASKING", 6 } };
	int err = link_to(w, &other, host);
	if (err)
		return err;
	err = weir__link_call(&other, &w->manner, asking, 1, reply);
	if (!err) {
		freeReplyObject(*reply);
		err = weir__link_call(&other, &w->manner, args, n, reply);
	}
	weir__link_close(&other);
	return err;
}

/* One call and where it leads. *reply NULL and 0: again, elsewhere. */
static int call_once(struct weir_wire *w, const struct iovec *args, size_t n, redisReply **reply)
{
	struct weir_host host;
	char room[WEIR_HOST_TEXT];
	int err = connect_if_needed(w);
	if (!err)
		err = weir__link_call(&w->link, &w->manner, args, n, reply);
	if (err)
		return err;
	if (redirected(w, *reply, "MOVED ", &host, room)) {
		snprintf(w->moved_name, sizeof w->moved_name, "%s", room);
		w->moved = (struct weir_host){ w->moved_name, host.port };
		weir__link_close(&w->link);
	} else if (!redirected(w, *reply, "ASK ", &host, room)) {
		return 0;
	} else {
		freeReplyObject(*reply);
		*reply = NULL;
		return call_asking(w, &host, args, n, reply);
	}
	freeReplyObject(*reply);
	*reply = NULL;
	return 0;
}

/* What an error says of the server. */
static int judge(struct weir_wire *w, const redisReply *r)
{
	static const struct {
		const char *word;
		int err;
		bool stays; /* the connection */
	} known[] = {
		{ "LOADING", -EAGAIN, true },      { "BUSY", -EAGAIN, true },
		{ "TRYAGAIN", -EAGAIN, true },     { "MASTERDOWN", -EAGAIN, false },
		{ "CLUSTERDOWN", -EAGAIN, false }, { "READONLY", -EAGAIN, false },
		{ "UNBLOCKED", -EAGAIN, false },   { "NOAUTH", -EACCES, true },
		{ "WRONGPASS", -EACCES, true },
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (!weir__reply_is(r, known[i].word))
			continue;
		int err = weir_fail(known[i].err, "%s: %.200s", w->link.peer, r->str);
		if (!known[i].stays)
			weir__link_close(&w->link);
		return err;
	}
	return 0;
}

int weir__wire_call(struct weir_wire *w, const struct iovec *args, size_t n, redisReply **reply)
{
	int err = 0;
	*reply = NULL;
	for (unsigned i = 0; i <= REDIRECTS && !err && !*reply; i++)
		err = call_once(w, args, n, reply);
	if (!err && !*reply)
		err = weir_fail(-EAGAIN, "%s: sent from one server of the Cluster to another %d "
		                "times", w->link.peer, REDIRECTS);
	if (err) {
		weir__link_close(&w->link);
		if (*reply)
			freeReplyObject(*reply);
		*reply = NULL;
		return err;
	}
	err = judge(w, *reply);
	if (err) {
		freeReplyObject(*reply);
		*reply = NULL;
	}
	return err;
}

uint64_t weir__wire_number(const struct weir_wire *w)
{
	return w->number;
}

const char *weir__wire_peer(const struct weir_wire *w)
{
	struct weir_wire *own = (struct weir_wire *)(uintptr_t)w; /* room for the text */
	if (w->link.peer[0])
		return w->link.peer;
	return weir__address_print(own->peer, &w->manner.address, &w->manner.address.hosts[0]);
}

int weir__wire_fd(const struct weir_wire *w)
{
	return w->link.stream.fd;
}

/* ---- a channel ---- */

int weir__wire_subscribe(struct weir_wire *w, const char *channel)
{
	redisReply *reply;
	const struct iovec args[] = { { (void *)(uintptr_t)"SUBSCRIBE", 9 },
		                      { (void *)(uintptr_t)channel, strlen(channel) } };
	int err = weir__wire_call(w, args, 2, &reply);
	if (err)
		return err;
	if (reply->type != REDIS_REPLY_ARRAY)
		err = weir_fail(reply->type == REDIS_REPLY_ERROR ? -EACCES : -EPROTO, "%s: channel "
		                "%s: %.200s", w->link.peer, channel, reply->str ? reply->str : "");
	freeReplyObject(reply);
	if (err)
		weir__link_close(&w->link);
	return err;
}

int weir__wire_heard(struct weir_wire *w)
{
	int heard = 0;
	if (w->link.stream.fd < 0)
		return weir_fail(-ENOTCONN, "no channel is heard");
	for (;;) {
		redisReply *reply;
		int err = weir__link_answer(&w->link, 0, &reply);
		if (err == -EAGAIN)
			return heard;
		if (err) {
			weir__link_close(&w->link);
			return err;
		}
		freeReplyObject(reply);
		heard++;
	}
}

/* ---- interruption ---- */

int weir__wire_interrupt_fd(const struct weir_wire *w)
{
	return w->manner.interrupt;
}
