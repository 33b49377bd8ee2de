/* SPDX-License-Identifier: MIT
 * The options of a replica, as its parts want them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <weir/error.h>
#include "../format/manifest.h"
#include "../node.h"
#include "service.h"

enum { DAY_MS = 24 * 3600 * 1000, READ_MS = 2000 };

int weir__service_check(const struct weir_replica_options *o)
{
	if (o->struct_size != sizeof *o)
		return weir_fail(-EINVAL, "struct_size is %zu, this library's is %zu: start from "
		                 "WEIR_REPLICA_OPTIONS_INIT", o->struct_size, sizeof *o);
	if (!o->set || !weir__set_name_is(o->set, strlen(o->set)))
		return weir_fail(-EINVAL, "set %.80s: a name is 1 to 64 letters, digits, - _ .",
		                 o->set ? o->set : "NULL");
	if (o->keep > WEIR_REPLICA_KEEP_MOST)
		return weir_fail(-EINVAL, "keep %u: 1 to %d generations can be kept", o->keep,
		                 WEIR_REPLICA_KEEP_MOST);
	if (o->zstd_level < 0 || o->zstd_level > 19)
		return weir_fail(-EINVAL, "zstd_level %d: it is 0 to 19", o->zstd_level);
	if (o->publish_seconds > 7 * 24 * 3600)
		return weir_fail(-EINVAL, "publish_seconds %u: 7 days are the most",
		                 o->publish_seconds);
	if (o->poll_ms > DAY_MS || o->idle_ms > DAY_MS || o->confirm_ms > DAY_MS ||
	    o->connect_ms > DAY_MS || o->answer_ms > DAY_MS)
		return weir_fail(-EINVAL, "poll_ms %u, idle_ms %u, confirm_ms %u, connect_ms %u, "
		                 "answer_ms %u: a day is the most", o->poll_ms, o->idle_ms,
		                 o->confirm_ms, o->connect_ms, o->answer_ms);
	if (o->image_folder && strlen(o->set) > WEIR_MANIFEST_NAME)
		return weir_fail(-EINVAL, "set %s: the name is too long for files", o->set);
	return o->params ? weir__replicable_check(o->params->kind) : 0;
}

int weir__service_wire(struct weir_wire **wire, const struct weir_replica_options *o)
{
	const struct weir_wire_options w = {
		.url = o->url,
		.user = o->user,
		.password = o->password,
		.password_file = o->password_file,
		.sentinel_user = o->sentinel_user,
		.sentinel_password = o->sentinel_password,
		.client_name = "weir",
		.ca_file = o->ca_file,
		.cert_file = o->cert_file,
		.key_file = o->key_file,
		.server_name = o->server_name,
		.insecure = o->insecure,
		.connect_ms = o->connect_ms,
		.answer_ms = o->answer_ms,
	};
	return weir__wire_open(wire, &w);
}

/* A replica is not waited for as long as the master: that one has it too. */
int weir__service_image_wires(struct weir_replica *r, const struct weir_replica_options *o)
{
	struct weir_replica_options of = *o;
	int err = weir__service_wire(&r->image_wire, o);
	if (err || !o->read_url)
		return err;
	of.url = o->read_url;
	of.connect_ms = o->connect_ms && o->connect_ms < READ_MS ? o->connect_ms : READ_MS;
	of.answer_ms = o->answer_ms && o->answer_ms < READ_MS ? o->answer_ms : READ_MS;
	err = weir__service_wire(&r->read_wire, &of);
	if (!err)
		err = weir__wire_draw(r->read_wire);
	return err ? weir_fail(err, "replicas that are read (read_url, --read-url): %s",
	                       weir_error_detail()) : 0;
}

static void wake(void *context)
{
	weir__service_wake(context);
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static int make_http(struct weir_replica *r, const struct weir_replica_options *o)
{
	if (!o->image_url)
		return 0;
	r->image_url = copy(o->image_url);
	r->image_ca_file = copy(o->image_ca_file);
	if (!r->image_url || (o->image_ca_file && !r->image_ca_file))
		return weir_fail(-ENOMEM, "no memory for the base URL of images");
	r->http = (struct weir_fetch_options){ .base_url = r->image_url,
		                               .ca_file = r->image_ca_file,
		                               .allow_http = o->image_http };
	r->redis.http = &r->http;
	int err = weir__fetch_check(&r->http);
	return err ? weir_fail(err, "images by HTTP (image_url, --image-url): %s",
	                       weir_error_detail()) : 0;
}

int weir__service_redis(struct weir_replica *r, const struct weir_replica_options *o)
{
	struct weir_redis *x = &r->redis;
	uint64_t id;
	int err = weir__random(&id);
	if (err)
		return err;
	weir__redis_make(x, r->wire, o->set, id);
	r->node.id = r->opened = id;
	x->image_wire = r->image_wire;
	x->read_wire = r->read_wire;
	x->wake = wake;
	x->wake_context = r;
	x->replicas = o->replicas;
	/* an answer is waited for no longer than answer_ms */
	uint32_t answer_ms = o->answer_ms ? o->answer_ms : 10000;
	x->wait_ms = answer_ms / 2 < 1000 ? answer_ms / 2 : 1000;
	x->keep = o->keep ? o->keep : x->keep;
	x->zstd_level = o->zstd_level;
	x->max_image_bytes = o->max_image_bytes ? o->max_image_bytes : x->max_image_bytes;
	r->folder = copy(o->image_folder);
	x->image_folder = r->folder;
	if (o->secret && (r->secret = malloc(16)))
		memcpy(r->secret, o->secret, 16);
	x->secret = r->secret;
	if ((o->image_folder && !r->folder) || (o->secret && !r->secret))
		return weir_fail(-ENOMEM, "no memory for the options of a replica");
	err = o->secret_key ? weir__signer_open(&x->signer, o->secret_key) : 0;
	if (!err && o->trusted_keys)
		err = weir__trust_open(&x->trust, o->trusted_keys);
	return err ? err : make_http(r, o);
}
