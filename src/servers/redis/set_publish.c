/* SPDX-License-Identifier: MIT
 * WEIR.PUBLISH key SET name merges the key with the set's image and log, and publishes the result
 * as the next generation. The generation's position is the log's end. The key does not change.
 *
 * A lease only keeps two publishers from the same work. This command is atomic and needs no lease:
 * a node that has the lease then reads the new head, and joins the head's generation. */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <weir/replica.h>
#include "set.h"

/* Merge key, image and log into one filter. @hashing: fingerprint of the key's seed */
static int merge_all(struct set *s, const struct chain_link *l, uint64_t hashing,
                     struct weir_filter **out)
{
	struct weir_filter *f;
	uint64_t batches;
	int err = s->head.generation ? set_image(s, l->bytes, &f) : weir_clone(&f, l->filter);
	if (err)
		return err;
	err = set_replay(s, f, hashing, &batches);
	if (!err && s->head.generation) {
		err = weir_merge(f, l->filter);
		if (err)
			(void)weir_fail(err, "set %s: its filter cannot be united with the key's: "
			                "%s: WEIR.LOAD the set into a key of its own first, and "
			                "insert into that", set_name(s), weir_error_detail());
	}
	if (err)
		weir_destroy(f);
	else
		*out = f;
	return err;
}

/* Set all manifest fields but those of the image. The field pure stays false, since the image has
 * items of the key that neither its parent nor the log has. */
static int set_manifest_fields(const struct set *s, const struct weir_stats *of,
                               struct weir_manifest *m)
{
	const struct weir_head *h = &s->head;
	*m = (struct weir_manifest){ .position = h->last, .tag = h->tag, .parent = h->version,
		.parent_id = h->generation, .source = WEIR_SOURCE_SET, .kind = of->shape.kind,
		.hashing = of->seed_fingerprint, .has = s->manifest.has };
	snprintf(m->set, sizeof m->set, "%s", set_name(s));
	m->version.era = h->generation ? h->version.era : 1;
	m->version.number = h->version.number + 1;
	int err = weir__draw(&m->id);
	if (!err)
		err = weir__draw(&m->publisher);
	(void)weir__has_add(&m->has, m->id);
	return err;
}

/* Keep as many generations as redis keeps now. A node has chosen that number. */
static int keep(struct set *s)
{
	struct redisReply *reply;
	uint64_t n = 0;
	int err = weir__redis_ask(s->redis, &reply, "HLEN", s->redis->keys.kept, NULL);
	if (err)
		return err;
	(void)weir__reply_number(reply, &n);
	freeReplyObject(reply);
	s->redis->o.keep = n < 2 ? 2 : n > WEIR_REPLICA_KEEP_MOST ? WEIR_REPLICA_KEEP_MOST
	                                                          : (uint32_t)n;
	return 0;
}

/* Expire the uploaded chunks now. XX skips chunks without an expiry, which belong to kept
 * manifests.
 * @err: the error to return, with its error text */
static int expire_chunks(const struct set *s, const struct weir_image_job *j, int err)
{
	char why[WEIR_SENTENCE_BYTES], key[WEIR_KEY_TEXT + WEIR_NUMBER_TEXT];
	snprintf(why, sizeof why, "%s", weir_error_detail());
	char *number = key + strlen(weir__key_of_image(key, &s->redis->keys, j->m.image));
	for (uint64_t i = 0; i < j->chunks; i++) {
		weir__number(number, i);
		if (weir__redis_ask(s->redis, NULL, "EXPIRE", key, "0", "XX", NULL) != 0)
			break; /* the chunks expire later anyway */
	}
	return weir_fail(err, "%s", why);
}

static int upload(struct set *s, struct weir_image_job *j, const struct weir_filter *f)
{
	struct weir_publication p = { s->head.mark, s->head.version, &j->m };
	int err = weir__image_copy(j, f);
	if (!err)
		err = weir__image_upload(j);
	/* The server checks its memory before a command, but not before calls within a command. */
	if (!err && redis.GetUsedMemoryRatio() > 1)
		err = weir_fail(-ENOSPC, "set %s: an image of %llu bytes would leave the server "
		                "above its maxmemory: raise it", set_name(s),
		                (unsigned long long)j->m.bytes);
	if (!err)
		err = weir__redis_publish(s->redis, &p);
	if (err)
		err = expire_chunks(s, j, err);
	if (j->bytes)
		munmap(j->bytes, j->room);
	return err;
}

static int publish(struct set *s, const struct chain *c)
{
	struct weir_image_job j = { .r = s->redis, .upload = true };
	struct weir_stats st = WEIR_STATS_INIT;
	struct weir_filter *f = NULL;
	int err = set_check_key(s, c);
	if (!err)
		err = weir_measure(c->newest->filter, WEIR_SAMPLED, &st);
	if (!err)
		err = set_manifest_fields(s, &st, &j.m);
	if (!err)
		err = keep(s);
	if (!err)
		err = merge_all(s, c->newest, st.seed_fingerprint, &f);
	s->redis->o.max_image_bytes = UINT64_MAX;
	if (!err)
		err = upload(s, &j, f);
	weir_destroy(f);
	s->head.version = j.m.version;
	return err;
}

static void publish_key(struct redis_context *context, struct redis_string **argv,
                        const struct chain *c)
{
	char version[WEIR_ID_TEXT];
	struct set s;
	int err = set_open(&s, context, argv + 1, true);
	if (!err)
		err = publish(&s, c);
	if (err)
		key_fail(context, err, NULL);
	else
		redis.ReplyWithSimpleString(context, weir__version_write(version, s.head.version));
	set_close(&s);
}

int weir_publish(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	if (argc != 4)
		return redis.WrongArity(context);
	if (!key_open(context, &bf_keys, argv[1], REDIS_READ, &key, &c)) {
		if (c)
			publish_key(context, argv, c);
		else
			redis.ReplyWithError(context, "ERR not found");
	}
	redis.CloseKey(key);
	return REDIS_OK;
}
