/* SPDX-License-Identifier: MIT
 * Options, and where the master is. */
#include "wire.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <weir/error.h>
#include "../node.h"
#include "link.h"

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
			return weir_fail(-EINVAL, "%s is an option of TLS, and the URL does not "
			                 "begin with rediss", o->ca_file ? "ca_file (--ca-file)" :
			                 o->cert_file   ? "cert_file (--cert-file)" :
			                 o->key_file    ? "key_file (--key-file)" :
			                 o->server_name ? "server_name (--server-name)" :
			                                  "insecure (--insecure)");
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
		err = weir_fail(-EINVAL, "a user of redis is given and no password, nor a file "
		                "that has it (password_file, --password-file): "
		                "redis://:PASSWORD@HOST has no user");
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

int weir__wire_link(struct weir_wire *w, struct weir_link *l, const struct weir_host *host)
{
	char *password = w->password;
	int err = w->password_file ? weir__secret_read(&password, w->password_file) : 0;
	if (err)
		return err;
	const struct weir_speaker speaker = { w->user, password, true };
	err = weir__link_open(l, &w->manner, host, &speaker);
	if (!err && l == &w->link)
		snprintf(w->host, sizeof w->host, "%s", host ? host->name : "");
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

static int connect_by_sentinel(struct weir_wire *w, const struct weir_host *sentinel)
{
	const struct weir_speaker speaker = { w->sentinel_user, w->sentinel_password, false };
	struct weir_host host;
	char room[WEIR_HOST_TEXT];
	int err = weir__sentinel_ask(&w->manner, &speaker, sentinel, &host, room);
	if (!err)
		err = weir__wire_link(w, &w->link, &host);
	return err ? err : check_role(w);
}

/* A Sentinel that is cut off from the others may answer, and name who is no master any more, for as
 * long as it is cut off. So whoever did not lead to a master is asked last from then on. */
static int connect_to_any(struct weir_wire *w)
{
	struct weir_address *a = &w->manner.address;
	if (a->path)
		return weir__wire_link(w, &w->link, NULL);
	if (w->moved.port && weir__wire_link(w, &w->link, &w->moved) == 0)
		return 0;
	w->moved.port = 0;
	for (size_t i = 0;;) {
		int err = a->sentinel ? connect_by_sentinel(w, &a->hosts[0]) :
		                        weir__wire_link(w, &w->link, &a->hosts[0]);
		if (!err || err == -ECANCELED)
			return err;
		weir__address_rotate(a);
		if (++i == a->n)
			return err;
	}
}

void weir__wire_leave(struct weir_wire *w)
{
	weir__link_close(&w->link);
	if (w->moved.port)
		w->moved.port = 0;
	else if (!w->manner.address.sentinel)
		weir__address_rotate(&w->manner.address);
}

int weir__wire_connect(struct weir_wire *w)
{
	if (weir__wire_interrupted(w))
		return weir_fail(-ECANCELED, "the connection to redis was interrupted");
	if (w->link.stream.fd >= 0)
		return 0;
	int err = connect_to_any(w);
	w->number += !err;
	return err;
}

int weir__wire_draw(struct weir_wire *w)
{
	struct weir_address *a = &w->manner.address;
	uint64_t n;
	int err = weir__random(&n);
	for (uint64_t i = err || !a->n ? 0 : n % a->n; i; i--)
		weir__address_rotate(a);
	return err;
}

void weir__wire_rest(struct weir_wire *w)
{
	uint64_t n;
	weir__link_close(&w->link);
	while (read(w->manner.interrupt, &n, sizeof n) < 0 && errno == EINTR)
		;
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

int weir__wire_interrupt_fd(const struct weir_wire *w)
{
	return w->manner.interrupt;
}
