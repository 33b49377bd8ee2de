/* SPDX-License-Identifier: MIT
 * The manifest of a set, and what a module can do with it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "../../replica/format/number.h"
#include "set.h"

/* A key that the scripts touch may expire while they do: the filter would go with it. */
static int check_key(const struct set *s, struct redis_string *key)
{
	size_t len;
	const char *is = redis.StringPtrLen(key, &len);
	char own[WEIR_KEY_TEXT];
	size_t prefix = (size_t)snprintf(own, sizeof own, "{weir:%s}:c:", s->keys.set);
	bool taken = len >= prefix && memcmp(is, own, prefix) == 0;
	for (size_t i = 0; i < WEIR_KEYS && !taken; i++)
		taken = len == strlen(s->keys.of[i]) && memcmp(is, s->keys.of[i], len) == 0;
	return taken ? weir_fail(-EINVAL, "set %s: the key is one of its own: name another",
	                         s->keys.set) : 0;
}

static int take_name(struct set *s, struct redis_string **words)
{
	size_t len;
	const char *name = redis.StringPtrLen(words[2], &len);
	char text[WEIR_MANIFEST_NAME + 1] = "";
	if (strcasecmp(redis.StringPtrLen(words[1], NULL), "SET") != 0)
		return weir_fail(-EINVAL, "after the key comes SET and the set's name");
	if (!weir__set_name_is(name, len))
		return weir_fail(-EINVAL, "'%.*s' is no name of a set: 1 to %d letters, digits, "
		                 "- _ .", (int)(len < 80 ? len : 80), name, WEIR_MANIFEST_NAME);
	memcpy(text, name, len);
	weir__keys_make(&s->keys, text);
	return check_key(s, words[0]);
}

/* What only a node can check, or get. */
static int check(const struct set *s, const struct iovec *signature)
{
	const struct weir_manifest *m = &s->manifest;
	if (strcmp(m->set, s->keys.set) != 0)
		return weir_fail(-EBADMSG, "the manifest of set %s says that it is that of %s",
		                 s->keys.set, m->set);
	if (signature->iov_len)
		return weir_fail(-ENOTSUP, "set %s: generation %" PRIu64 " is signed: a module "
		                 "checks no signatures and makes none, nodes and weir replicate do",
		                 s->keys.set, m->generation);
	if (m->path[0])
		return weir_fail(-ENOTSUP, "set %s: the image of generation %" PRIu64 " is got by "
		                 "HTTP (%s): a module reads images in redis alone", s->keys.set,
		                 m->generation, m->path);
	if (m->kind != WEIR_BLOCKED)
		return weir_fail(-ENOTSUP, "set %s is of kind %s: keys of BF.* are of kind blocked",
		                 s->keys.set, weir_kind_name(m->kind));
	return 0;
}

/* { epoch, text, signature, its SHA-1 } */
static int take(struct set *s, struct redis_reply *reply)
{
	struct iovec epoch, text, signature = { 0 };
	if (redis.CallReplyType(reply) != REDIS_REPLY_ARRAY || redis.CallReplyLength(reply) != 4 ||
	    !set_text(redis.CallReplyArrayElement(reply, 0), &epoch) ||
	    epoch.iov_len > WEIR_REPLICA_EPOCH)
		return set_shape(s, "a reading of the manifest");
	memcpy(s->epoch, epoch.iov_base, epoch.iov_len);
	if (!set_text(redis.CallReplyArrayElement(reply, 1), &text))
		return 0; /* there is none */
	(void)set_text(redis.CallReplyArrayElement(reply, 2), &signature);
	int err = weir__manifest_read(&s->manifest, &s->origins, text.iov_base, text.iov_len);
	return err ? weir_fail(err, "set %s: %s", s->keys.set, weir_error_detail())
	           : check(s, &signature);
}

int set_find(struct set *s, struct redis_context *context, struct redis_string **words, bool make)
{
	*s = (struct set){ .context = context };
	struct redis_reply *reply;
	uint64_t random = 0;
	char token[17] = "";
	int err = take_name(s, words);
	if (!err && make)
		err = weir__random(&random);
	if (err)
		return err;
	if (make)
		snprintf(token, sizeof token, "%016" PRIx64, random);
	const struct iovec args[] = { weir__text(token) };
	err = set_script(s, WEIR_SCRIPT_MANIFEST, args, 1, &reply);
	if (err)
		return err;
	err = take(s, reply);
	redis.FreeCallReply(reply);
	return err;
}

int set_check_key(const struct set *s, const struct chain *c)
{
	struct weir_stats st = WEIR_STATS_INIT;
	if (c->links != 1)
		return weir_fail(-ENOTSUP, "set %s: the key has grown to %zu filters, a set is "
		                 "one: reserve enough (BF.RESERVE with NONSCALING)", s->keys.set,
		                 c->links);
	int err = weir_measure(c->link[0].filter, WEIR_SAMPLED, &st);
	if (err || !s->manifest.generation || st.seed_fingerprint == s->manifest.hashing)
		return err;
	return weir_fail(-EKEYREJECTED, "set %s has another seed than the key: its fingerprint is "
	                 "%016" PRIx64 ", the key's %016" PRIx64 ": WEIR.LOAD the set into a key "
	                 "of its own first, and insert into that", s->keys.set,
	                 s->manifest.hashing, st.seed_fingerprint);
}

void set_close(struct set *s)
{
	weir__origins_free(&s->origins);
}
