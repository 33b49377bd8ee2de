/* SPDX-License-Identifier: MIT
 * Open a set: read its head and manifest, and check that a module can use the set. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include "set.h"

enum { HEAD_FIELDS = 9 };

/* For weir_redis_options.trusted: refuse a generation that only a node can check or use. */
static int check(void *set, const struct weir_manifest *m, const char *text, size_t len,
                 const char *signature, size_t signature_len)
{
	const struct set *s = set;
	char version[WEIR_ID_TEXT];
	(void)text, (void)len, (void)signature;
	weir__version_write(version, m->version);
	if (signature_len)
		return weir_fail(-ENOTSUP, "set %s: generation %s is signed: a module checks no "
		                 "signatures and makes none: use a node or weir replicate",
		                 m->set, version);
	if (m->kind != WEIR_BLOCKED)
		return weir_fail(-ENOTSUP, "set %s is of kind %s: keys of BF.* are of kind blocked",
		                 m->set, weir_kind_name(m->kind));
	if (m->steps)
		return weir_fail(-ENOTSUP, "set %s normalises its keys: a key of BF.* takes items "
		                 "as they are", m->set);
	return m->id == s->head.generation ? 0 :
	       weir_fail(-EBADMSG, "set %s: generation %s has another id than the head says: "
	                 "publish another from a node", m->set, version);
}

static int open_redis(struct set *s, struct redis_string **words)
{
	struct weir_redis_options o = { .call = set_call, .link = s->context,
		.image_link = s->context, .trusted = check, .trust = s,
		.max_image_bytes = UINT64_MAX, .keep = 2, .grace_ms = UINT32_MAX };
	size_t len;
	o.set = redis.StringPtrLen(words[2], &len);
	if (strcasecmp(redis.StringPtrLen(words[1], NULL), "SET") != 0)
		return weir_fail(-EINVAL, "after the key comes SET and the set's name");
	if (strlen(o.set) != len)
		o.set = ""; /* weir__redis_open() refuses an empty name */
	int err = weir__redis_open(&s->redis, &o);
	if (err)
		return err;
	/* Refuse a key that the set itself uses: the set's scripts could expire the key, and redis
	 * would free the filter in that key. */
	const char *key = redis.StringPtrLen(words[0], &len), *own = s->redis->keys.prefix;
	return len >= strlen(own) && memcmp(key, own, strlen(own)) == 0 ?
		weir_fail(-EINVAL, "set %s: the key is one of its own: name another", o.set) : 0;
}

/* Read the head without a heartbeat, since a heartbeat changes it. */
static int read_head(struct set *s)
{
	struct redisReply *reply;
	int err = weir__redis_ask(s->redis, &reply, "HMGET", s->redis->keys.head, "mark", "prev",
	                          "base", "lost", "last", "tag", "version", "generation",
	                          "replicas", NULL);
	if (err)
		return err;
	if (!weir__is_array(reply, HEAD_FIELDS) ||
	    !weir__reply_head(reply->element, &s->head) || !s->head.generation)
		err = weir_fail(-ENOENT, "set %s has no generation here: publish one", set_name(s));
	freeReplyObject(reply);
	return err;
}

int set_open(struct set *s, struct redis_context *context, struct redis_string **words, bool touch)
{
	struct weir_touch heartbeat = { .node = 0 };
	*s = (struct set){ .context = context };
	int err = open_redis(s, words);
	if (!err && touch)
		err = weir__draw(&heartbeat.node);
	if (!err)
		err = touch ? weir__redis_touch(s->redis, &heartbeat, &s->head) : read_head(s);
	return !err && s->head.generation ? weir__redis_manifest(s->redis, &s->manifest) : err;
}

int set_check_key(const struct set *s, const struct chain *c)
{
	struct weir_stats st = WEIR_STATS_INIT;
	if (c->links != 1)
		return weir_fail(-ENOTSUP, "set %s: the key has grown to %u filters, a set is "
		                 "one: reserve enough (BF.RESERVE with NONSCALING)", set_name(s),
		                 c->links);
	if (c->newest->probes)
		return weir_fail(-ENOTSUP, "set %s: the key is not of kind blocked, since it has "
		                 "only %llu bytes of bits, or is RedisBloom's: reserve more than "
		                 "%d bytes", set_name(s), (unsigned long long)c->newest->bytes,
		                 CHAIN_COMPACT);
	int err = weir_measure(c->newest->filter, WEIR_SAMPLED, &st);
	if (err || !s->head.generation || st.seed_fingerprint == s->manifest.hashing)
		return err;
	return weir_fail(-EKEYREJECTED, "set %s has another seed than the key: its fingerprint is "
	                 "%016" PRIx64 ", the key's %016" PRIx64 ": WEIR.LOAD the set into a key "
	                 "of its own first, and insert into that", set_name(s),
	                 s->manifest.hashing, st.seed_fingerprint);
}

void set_close(struct set *s)
{
	weir__redis_close(s->redis);
}
