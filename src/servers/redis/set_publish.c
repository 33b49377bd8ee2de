/* SPDX-License-Identifier: MIT
 * WEIR.PUBLISH key SET name: what the key has and what the set has become the set's next
 * generation. The key stays as it is. */
#include "set.h"

/* A copy of the key's filter with the set's image. */
static int unite(const struct set *s, const struct chain_link *l, struct weir_filter **out)
{
	struct weir_filter *image, *both;
	int err = set_image(s, l->bytes, &image);
	if (err)
		return err;
	err = weir_clone(&both, l->filter);
	if (!err) {
		err = weir_merge(both, image);
		if (err)
			weir_destroy(both);
	}
	weir_destroy(image);
	if (err)
		return weir_fail(err, "set %s: its filter cannot be united with the key's: %s: "
		                 "WEIR.LOAD the set into a key of its own first, and insert into "
		                 "that", s->keys.set, weir_error_detail());
	*out = both;
	return 0;
}

static int publish(struct set *s, const struct chain *c)
{
	struct weir_filter *both = NULL;
	int err = set_check_key(s, c);
	if (!err && s->manifest.generation)
		err = unite(s, &c->link[0], &both);
	if (!err)
		err = set_publish(s, both ? both : c->link[0].filter);
	weir_destroy(both);
	return err;
}

static void publish_key(struct redis_context *context, struct redis_string **argv,
                        const struct chain *c)
{
	struct set s;
	int err = set_find(&s, context, argv + 1, true);
	if (!err)
		err = publish(&s, c);
	if (err)
		key_fail(context, NULL, err);
	else
		redis.ReplyWithLongLong(context, (long long)s.manifest.generation);
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
