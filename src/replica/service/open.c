/* SPDX-License-Identifier: MIT
 * A replica is made of its options, joins the set, and starts its thread. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>
#include <weir/error.h>
#include "../kinds.h"
#include "service.h"

int weir__service_check(const struct weir_replica_options *o)
{
	if (o->struct_size != sizeof *o)
		return weir_fail(-EINVAL, "struct_size is %zu, this library's is %zu: start from "
		                 "WEIR_REPLICA_OPTIONS_INIT", o->struct_size, sizeof *o);
	if (!o->set || !weir__set_name_is(o->set, strlen(o->set)))
		return weir_fail(-EINVAL, "set %.80s: a name is 1 to 64 letters, digits, - _ .",
		                 o->set ? o->set : "NULL");
	if (o->keep > 64)
		return weir_fail(-EINVAL, "keep %u: 1 to 64 generations can be kept", o->keep);
	if (o->zstd_level < 0 || o->zstd_level > 19)
		return weir_fail(-EINVAL, "zstd_level %d: it is 0 to 19", o->zstd_level);
	if (o->publish_seconds > 30 * 24 * 3600)
		return weir_fail(-EINVAL, "publish_seconds %u: 30 days are the most",
		                 o->publish_seconds);
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

static bool stopped(void *context)
{
	return weir__wire_interrupted(context);
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

enum { ONE_TRY_MS = 1000 };

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
		                               .allow_http = o->image_http,
		                               .stop = stopped,
		                               .context = r->wire };
	r->redis.http = &r->http;
	return weir__fetch_check(&r->http);
}

static int make_redis(struct weir_replica *r, const struct weir_replica_options *o)
{
	struct weir_redis *x = &r->redis;
	uint64_t id;
	if (getrandom(&id, sizeof id, 0) != sizeof id)
		return weir_fail(-EIO, "the system gives no random number");
	weir__redis_make(x, r->wire, o->set, id);
	r->node.id = id;
	x->replicas = o->replicas;
	x->keep = o->keep ? o->keep : x->keep;
	x->zstd_level = o->zstd_level;
	x->max_image_bytes = o->max_image_bytes ? o->max_image_bytes : x->max_image_bytes;
	r->folder = copy(o->image_folder);
	x->image_folder = r->folder;
	if (o->hash_key && (r->hash_key = malloc(16)))
		memcpy(r->hash_key, o->hash_key, 16);
	x->hash_key = r->hash_key;
	if ((o->image_folder && !r->folder) || (o->hash_key && !r->hash_key))
		return weir_fail(-ENOMEM, "no memory for the options of a replica");
	int err = o->secret_key ? weir__signer_open(&x->signer, o->secret_key) : 0;
	if (!err && o->trusted_keys)
		err = weir__trust_open(&x->trust, o->trusted_keys);
	return err ? err : make_http(r, o);
}

/* ---- the handle and the node ---- */

static int make_node(struct weir_replica *r, const struct weir_replica_options *o)
{
	struct weir_handle_stats s = WEIR_HANDLE_STATS_INIT;
	int err = weir_handle_stats(r->handle, &s);
	if (!err && s.absent)
		err = weir_fail(-EINVAL, "set %s: the handle has no filter yet", o->set);
	if (!err)
		err = weir__replicable_check(s.filter.shape.kind);
	if (err)
		return err;
	weir__node_make(&r->node, &r->redis.server, r->handle, o->set, r->node.id,
	                o->max_pending_bytes ? o->max_pending_bytes : UINT64_C(256) << 20);
	r->made_node = true;
	if (r->redis.reserve < s.filter.bytes + (2 << 20))
		r->redis.reserve = s.filter.bytes + (2 << 20);
	return 0;
}

static int make_handle(struct weir_replica *r, struct weir_filter *f)
{
	int err = weir_handle_create(&r->handle, f, NULL);
	if (err)
		weir_destroy(f);
	else
		r->own_handle = true;
	return err;
}

/* The set as redis has it. */
static int begin_from(struct weir_replica *r, const struct weir_replica_options *o,
                      const char *epoch, const char *text, size_t len)
{
	struct weir_origins origins = { 0 };
	struct weir_filter *image;
	struct weir_manifest m;
	int err = weir__manifest_read(&m, &origins, text, len);
	if (!err && strcmp(m.set, o->set) != 0)
		err = weir_fail(-EBADMSG, "the manifest of set %s says that it is that of %s",
		                o->set, m.set);
	if (!err)
		err = weir__redis_image(&r->redis, &m, &image);
	if (!err)
		err = make_handle(r, image);
	if (!err)
		err = make_node(r, o);
	if (!err && r->node.hashing != m.hashing)
		err = weir_fail(-EKEYREJECTED, "set %s: the image of generation %" PRIu64 " is by "
		                "another seed or key than its manifest says", o->set,
		                m.generation);
	if (!err)
		weir__node_start(&r->node, epoch, &m, &origins);
	weir__origins_free(&origins);
	return err;
}

/* Nobody has published it yet: who is first decides on the seed. */
static int begin_anew(struct weir_replica *r, const struct weir_replica_options *o)
{
	struct weir_filter *f;
	if (!o->params)
		return weir_fail(-ENOENT, "set %s: nobody has published it at %s, and no params "
		                 "say what it is to be", o->set, weir__wire_peer(r->wire));
	int err = weir_create(&f, o->params);
	if (!err)
		err = make_handle(r, f);
	if (!err)
		err = make_node(r, o);
	if (!err)
		err = weir__node_look(&r->node);
	if (err == -EKEYREJECTED)
		err = -EEXIST; /* another was first, with another seed: that is the set's */
	if (!err && r->node.joined.generation)
		return 0; /* another was first, with the same seed */
	if (!err)
		err = weir__service_publish(r, NULL);
	return err;
}

static void unmake_handle(struct weir_replica *r)
{
	if (r->made_node)
		weir__node_free(&r->node);
	r->made_node = false;
	if (r->own_handle)
		(void)weir_handle_destroy(r->handle);
	r->own_handle = false;
	r->handle = NULL;
}

static int begin(struct weir_replica *r, const struct weir_replica_options *o)
{
	char epoch[WEIR_REPLICA_EPOCH + 1], *text;
	size_t len;
	int err = weir__redis_manifest(&r->redis, epoch, &text, &len);
	if (err)
		return err;
	err = text ? begin_from(r, o, epoch, text, len) : begin_anew(r, o);
	free(text);
	return err;
}

/* What another node is doing at this moment may be in the way. */
static int begin_with_patience(struct weir_replica *r, const struct weir_replica_options *o)
{
	uint64_t id = r->node.id;
	for (unsigned tries = 1;; tries++) {
		int err = begin(r, o);
		bool passing = err == -EEXIST || err == -EPERM || err == -EAGAIN ||
			       err == -ESTALE;
		if (!passing || tries == 8)
			return err;
		char why[WEIR_SERVICE_SENTENCE];
		snprintf(why, sizeof why, "%s", weir_error_detail());
		unmake_handle(r);
		r->node.id = id;
		(void)weir__wire_wait(r->wire, NULL, 0, (int)weir__wire_backoff(tries));
		(void)weir_fail(err, "%s", why);
	}
}

/* ---- the thread ---- */

static int make_lock(struct weir_replica *r)
{
	pthread_condattr_t attr;
	if (pthread_condattr_init(&attr) != 0)
		return weir_fail(-ENOMEM, "no memory for a condition");
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	int err = pthread_cond_init(&r->done, &attr);
	pthread_condattr_destroy(&attr);
	if (err)
		return weir_fail(-err, "no condition for the thread of a replica");
	pthread_mutex_init(&r->lock, NULL);
	r->requests_end = &r->requests;
	r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return r->wake < 0 ? weir_fail(-errno, "no descriptor to wake the thread of a replica") : 0;
}

static int start(struct weir_replica *r)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int err = pthread_create(&r->thread, NULL, weir__service_run, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return weir_fail(-EAGAIN, "set %s: no thread: %s", r->node.set,
		                 weir_strerror(-err));
	(void)pthread_setname_np(r->thread, "weir-replica");
	return 0;
}

static void free_all(struct weir_replica *r)
{
	unmake_handle(r);
	weir__signer_close(r->redis.signer);
	weir__trust_close(r->redis.trust);
	weir__wire_close(r->wire);
	if (r->wake >= 0)
		close(r->wake);
	if (r->requests_end) {
		pthread_mutex_destroy(&r->lock);
		pthread_cond_destroy(&r->done);
	}
	free(r->folder);
	free(r->image_url);
	free(r->image_ca_file);
	free(r->hash_key);
	free(r);
}

static int make(struct weir_replica *r, const struct weir_replica_options *o)
{
	r->poll_ms = o->poll_ms ? o->poll_ms : 100;
	r->idle_ms = o->idle_ms ? o->idle_ms : WEIR_SERVICE_IDLE_MS;
	r->confirm_replicas = o->confirm_replicas;
	r->confirm_ms = o->confirm_ms ? o->confirm_ms : 10000;
	r->publish_ms = o->publish_seconds * 1000;
	r->report = o->report;
	r->context = o->context;
	int err = make_lock(r);
	if (!err)
		err = weir__service_wire(&r->wire, o);
	if (!err)
		err = make_redis(r, o);
	if (err)
		return err;
	if (o->handle) {
		r->handle = o->handle;
		err = make_node(r, o);
	} else {
		err = begin_with_patience(r, o);
	}
	uint64_t now = weir__now_ms();
	weir__due_after(&r->publish, now, r->publish_ms);
	weir__due_after(&r->idle, now, r->idle_ms);
	memcpy(r->last_epoch, r->node.epoch, sizeof r->last_epoch);
	r->redis.generation = r->node.seen.generation;
	if (!err)
		weir__service_note(r, 0);
	return err ? err : start(r);
}

int weir_replica_open(struct weir_replica **out, const struct weir_replica_options *options)
{
	if (!out || !options)
		return weir_fail(-EINVAL, "the %s is NULL", out ? "options" : "result");
	int err = weir__service_check(options);
	if (err)
		return err;
	struct weir_replica *r = calloc(1, sizeof *r);
	if (!r)
		return weir_fail(-ENOMEM, "no memory for a replica");
	r->wake = -1;
	err = make(r, options);
	if (err) {
		char why[WEIR_SERVICE_SENTENCE];
		snprintf(why, sizeof why, "%s", weir_error_detail());
		free_all(r);
		return weir_fail(err, "%s", why);
	}
	*out = r;
	return 0;
}

struct weir_handle *weir_replica_handle(const struct weir_replica *r)
{
	return r->handle;
}

/* ---- the end ---- */

static uint64_t unsent(const struct weir_replica *r)
{
	uint64_t bytes = 0;
	for (const struct weir_batch *b = r->node.retained.next; b; b = b->later)
		bytes += b->bytes;
	return bytes;
}

int weir_replica_close(struct weir_replica *r)
{
	if (!r)
		return 0;
	if (pthread_equal(pthread_self(), r->thread))
		return weir_fail(-EDEADLK, "set %s: closed on its own thread", r->node.set);
	struct weir_replica_stats s = WEIR_REPLICA_STATS_INIT;
	bool there = weir_replica_stats(r, &s) == 0 && s.connected;
	if (weir_replica_flush(r, there ? r->confirm_ms : ONE_TRY_MS) == 0)
		(void)weir__service_ask(r, weir__service_leave, NULL);
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	pthread_cond_broadcast(&r->done);
	pthread_mutex_unlock(&r->lock);
	weir__wire_interrupt(r->wire);
	weir__service_wake(r);
	pthread_join(r->thread, NULL);
	(void)weir__node_collect(&r->node);
	uint64_t bytes = unsent(r);
	char set[WEIR_MANIFEST_NAME + 1];
	memcpy(set, r->node.set, sizeof set);
	free_all(r);
	return bytes ? weir_fail(-EAGAIN, "set %s: %" PRIu64 " bytes of inserts have not reached "
	                         "redis", set, bytes) : 0;
}
