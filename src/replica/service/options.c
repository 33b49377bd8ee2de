/* SPDX-License-Identifier: MIT
 * The options of a replica: check and copy them, and create the objects that they describe. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "service.h"

enum { DAY_MS = 24 * 3600 * 1000, SECRET = 16 };

/* The options that are texts: a replica copies them. */
#define AT(name) offsetof(struct weir_replica_options, name)
static const size_t texts[] = { AT(set), AT(url), AT(user), AT(password), AT(password_file),
	AT(sentinel_user), AT(sentinel_password), AT(ca_file), AT(cert_file), AT(key_file),
	AT(server_name), AT(secret_key), AT(trusted_keys), AT(state_file) };
enum { TEXTS = sizeof texts / sizeof *texts };

static char **text_at(struct weir_replica_options *o, size_t i)
{
	return (char **)(void *)((char *)o + texts[i]);
}

static int check_times(const struct weir_replica_options *o)
{
	const struct { const char *name; uint64_t ms; } times[] = {
		{ "connect_ms", o->connect_ms }, { "answer_ms", o->answer_ms },
		{ "confirm_ms", o->confirm_ms },
		{ "replica_grace_ms", o->replica_grace_ms },
	};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (times[i].ms > DAY_MS)
			return weir_fail(-EINVAL, "%s is %llu: set it to a day at most",
			                 times[i].name, (unsigned long long)times[i].ms);
	if (o->poll_ms > WEIR_NODE_BEAT_MS)
		return weir_fail(-EINVAL, "poll_ms is %u: set it to %d at most", o->poll_ms,
		                 WEIR_NODE_BEAT_MS);
	return o->publish_seconds <= 7 * 24 * 3600 ? 0 :
	       weir_fail(-EINVAL, "publish_seconds is %u: set it to 7 days at most",
	                 o->publish_seconds);
}

int weir__service_check(const struct weir_replica_options *o)
{
	if (o->struct_size != sizeof *o)
		return weir_fail(-EINVAL, "struct_size is %zu, this library's is %zu: start from "
		                 "WEIR_REPLICA_OPTIONS_INIT", o->struct_size, sizeof *o);
	if (!o->set || !weir__set_name_is(o->set, strlen(o->set)))
		return weir_fail(-EINVAL, "set is %.80s: choose a name of 1 to 64 letters, digits, "
		                 "dots, - and _", o->set ? o->set : "NULL");
	if (!o->url)
		return weir_fail(-EINVAL, "url is NULL: say where redis is, as redis://HOST");
	if (o->keep > WEIR_REPLICA_KEEP_MOST)
		return weir_fail(-EINVAL, "keep is %u: set it between 1 and %d", o->keep,
		                 WEIR_REPLICA_KEEP_MOST);
	if (o->zstd_level < 0 || o->zstd_level > 19)
		return weir_fail(-EINVAL, "zstd_level is %d: set it between 0 and 19",
		                 o->zstd_level);
	if (!o->trusted_keys != !o->state_file)
		return weir_fail(-EINVAL, "%s: give both, since a version is trusted only if it is "
		                 "not older than one that was taken", o->trusted_keys ?
		                 "trusted_keys is given without state_file" :
		                 "state_file is given without trusted_keys");
	if (o->secret_key && !o->trusted_keys)
		return weir_fail(-EINVAL, "secret_key without trusted_keys: this node would sign "
		                 "whatever redis has: give the public key as trusted_keys (and "
		                 "state_file)");
	int err = check_times(o);
	return err || !o->params ? err : weir__replicable_check(o->params->kind);
}

static bool is_sentinel(const char *url)
{
	return strstr(url, "+sentinel://") != NULL;
}

static int copy_options(struct weir_replica *r, const struct weir_replica_options *o)
{
	bool all = true;
	r->o = *o;
	for (size_t i = 0; i < TEXTS; i++) {
		char **text = text_at(&r->o, i);
		*text = *text ? strdup(*text) : NULL;
		all &= *text || !*text_at((struct weir_replica_options *)(uintptr_t)o, i);
	}
	if (o->secret) {
		void *secret = malloc(SECRET);
		r->o.secret = secret ? memcpy(secret, o->secret, SECRET) : NULL;
	}
	r->o.params = NULL; /* used only by weir_replica_open() */
	if (!all || (o->secret && !r->o.secret))
		return weir_fail(-ENOMEM, "no memory for the options of a replica");
	r->o.keep = o->keep ? o->keep : 2;
	r->o.confirm_ms = o->confirm_ms ? o->confirm_ms : 10000;
	r->o.replica_grace_ms = o->replica_grace_ms ? o->replica_grace_ms : 60000;
	r->o.expires_seconds = o->expires_seconds ? o->expires_seconds : DAY_MS / 1000;
	r->o.max_image_bytes = o->max_image_bytes ? o->max_image_bytes : UINT64_C(16) << 30;
	r->o.max_pending_bytes =
		o->max_pending_bytes ? o->max_pending_bytes : UINT64_C(256) << 20;
	return 0;
}

static int make_links(struct weir_replica *r)
{
	const struct weir_replica_options *o = &r->o;
	const struct weir_link_options link = {
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
		/* With Sentinels wait only 2 s, since a silent master may have been replaced. */
		.answer_ms = o->answer_ms || !is_sentinel(o->url) ? o->answer_ms : 2000,
		.waiting = weir__service_waiting,
		.waiting_context = r,
	};
	int err = weir__link_open(&r->link, &link);
	return err ? err : weir__link_open_second(&r->image_link, r->link);
}

/* ---- callbacks of the store, and the objects of a replica ---- */

static int call(void *arg, const struct iovec *args, size_t n, struct redisReply **reply)
{
	const struct weir_store_link *line = arg;
	unsigned tries = line->tries;
	int err;
	do
		err = weir__link_call(line->link, args, n, reply);
	while (err == -ECONNRESET && --tries);
	return err;
}

static void interrupt(void *line)
{
	weir__link_interrupt(((struct weir_store_link *)line)->link);
}

static void rest(void *line)
{
	weir__link_reset(((struct weir_store_link *)line)->link);
}

/* Return: true if the node would merge @m. A merge removes no key, so a second generation of the
 *   same version does no harm. */
static bool would_merge(const struct weir_replica *r, const struct weir_manifest *m)
{
	return r->has_node && !r->node.images_only && m->version.era == r->node.era;
}

/* Return: true if the node signs, and opened with a set of its own, which has no era yet. The node
 *   publishes that set with a version above the head's. */
static bool signs_own_set(const struct weir_replica *r)
{
	return r->has_node && r->signer && !r->node.era;
}

/* Return: true if @m is older than the accepted version. A node uses only the position
 * of an older manifest ([HEAD-JOIN]). */
static bool is_older(const struct weir_replica *r, const struct weir_manifest *m)
{
	return r->has_node &&
	       weir__version_compare(m->version, weir__trust_accepted(r->trust)->version) < 0;
}

/* If a manifest is not trusted, or the state file cannot be written, the node keeps its set. */
static int trusted(void *replica, const struct weir_manifest *m, const char *text, size_t len,
                   const char *signature, size_t signature_len)
{
	struct weir_replica *r = replica;
	int err = r->trust ? weir__trust_accept(r->trust, m, text, len, signature, signature_len,
	                                        weir__service_clocks()) : 0;
	if (err == -EEXIST && (would_merge(r, m) || signs_own_set(r))) {
		weir__service_tell(r, err, weir_error_detail());
		err = 0;
	}
	if (err == -EKEYREJECTED && is_older(r, m))
		err = weir__trust_signed(r->trust, m, text, len, signature, signature_len);
	if (r->trust && r->has_node)
		r->node.floor = weir__trust_accepted(r->trust)->version;
	weir__failure_save(&r->distrust, err);
	if (!err)
		r->is_signed = signature_len != 0;
	weir__service_may_publish(r);
	return err && err != -EKEYEXPIRED ? weir_fail(-EKEYREJECTED, "%s", r->distrust.why) : err;
}

static int sign(void *replica, const char *text, size_t len, char line[WEIR_SIGNATURE_ROOM])
{
	struct weir_replica *r = replica;
	const uint64_t server_ms = r->has_node ? r->node.head.now_ms : 0;
	int err = weir__signer_clock(weir__service_clocks().wall_ms, server_ms);
	return err ? err : weir__signer_sign(r->signer, text, len, line);
}

static int make_redis(struct weir_replica *r)
{
	const struct weir_replica_options *o = &r->o;
	r->line = (struct weir_store_link){ r->link, 1 };
	r->image_line = (struct weir_store_link){ r->image_link, 2 };
	const struct weir_redis_options redis = {
		.set = o->set,
		.call = call,
		.link = &r->line,
		.image_link = &r->image_line,
		.interrupt = interrupt,
		.rest = rest,
		.trusted = trusted,
		.trust = r,
		.sign = r->signer ? sign : NULL,
		.signer = r,
		.wake = weir__service_wake,
		.wake_context = r,
		.expires_ms = r->signer ? (uint64_t)o->expires_seconds * 1000 : 0,
		.max_image_bytes = o->max_image_bytes,
		.keep = o->keep,
		.grace_ms = o->replica_grace_ms,
		.zstd_level = o->zstd_level,
		.secret = o->secret,
	};
	int err = weir__redis_open(&r->redis, &redis);
	if (!err)
		r->store = weir__redis_store(r->redis);
	return err;
}

/* Check that this node trusts its own signatures. Otherwise it would refuse the generations that it
 * publishes, and serve another set than the other nodes. */
static int check_signer(const struct weir_replica *r)
{
	static const char text[] = "a text that is not a manifest";
	struct weir_manifest m = { .version = { 0, 0 } };
	char line[WEIR_SIGNATURE_ROOM];
	snprintf(m.set, sizeof m.set, "%s", r->o.set);
	int err = weir__signer_sign(r->signer, text, sizeof text - 1, line);
	if (err)
		return err;
	return weir__trust_signed(r->trust, &m, text, sizeof text - 1, line, strlen(line)) ?
	       weir_fail(-EINVAL, "set %s: the public key of %s is not in %s, so this node would "
	                 "refuse what it publishes: add it there", r->o.set,
	                 r->o.secret_key, r->o.trusted_keys) : 0;
}

int weir__service_make(struct weir_replica *r, const struct weir_replica_options *o)
{
	int err = copy_options(r, o);
	if (!err)
		err = weir__draw(&r->id);
	if (!err)
		err = make_links(r);
	if (!err && o->secret_key)
		err = weir__signer_open(&r->signer, r->o.secret_key);
	if (!err && o->trusted_keys)
		err = weir__trust_open(&r->trust, r->o.trusted_keys, r->o.state_file, r->o.set,
		                       weir__service_clocks());
	if (!err && r->signer)
		err = check_signer(r);
	return err ? err : make_redis(r);
}

void weir__service_free(struct weir_replica *r)
{
	weir__redis_close(r->redis);
	weir__link_close(r->image_link);
	weir__link_close(r->link);
	weir__signer_close(r->signer);
	weir__trust_close(r->trust);
	if (r->o.secret)
		explicit_bzero((void *)(uintptr_t)r->o.secret, SECRET);
	free((void *)(uintptr_t)r->o.secret);
	for (size_t i = 0; i < TEXTS; i++) {
		char *text = *text_at(&r->o, i);
		if (text)
			explicit_bzero(text, strlen(text));
		free(text);
	}
}
