/* SPDX-License-Identifier: MIT
 * The read-only commands: CF.EXISTS, MEXISTS, COUNT and INFO. */
#include "keys.h"

int cf_exists(struct redis_context *context, struct redis_string **argv, int argc)
{
	return argc == 3 ? key_reply_contains(context, &cf_keys, argv, argc, false)
	                 : redis.WrongArity(context);
}

int cf_mexists(struct redis_context *context, struct redis_string **argv, int argc)
{
	return argc >= 3 ? key_reply_contains(context, &cf_keys, argv, argc, true)
	                 : redis.WrongArity(context);
}

int cf_count(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	size_t len;
	if (argc != 3)
		return redis.WrongArity(context);
	if (!key_open(context, &cf_keys, argv[1], REDIS_READ, &key, &c)) {
		const char *item = redis.StringPtrLen(argv[2], &len);
		redis.ReplyWithLongLong(context, c ? (long long)chain_count(c, item, len) : 0);
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

/* The number of buckets in RedisBloom's layout: a power of two. */
static uint64_t buckets_of(const struct chain_settings *s)
{
	uint64_t buckets = 1;
	while (buckets * s->bucket < s->capacity)
		buckets *= 2;
	return buckets;
}

static void reply_info(struct redis_context *context, const struct chain *c)
{
	const struct chain_settings *s = &c->settings;
	const struct {
		const char *title;
		uint64_t value;
	} fields[] = {
		{ "Size", chain_bytes(c) + sizeof *c },
		{ "Number of buckets", buckets_of(s) },
		{ "Number of filters", c->links },
		{ "Number of items inserted", chain_items(c) },
		{ "Number of items deleted", c->deleted },
		{ "Bucket size", s->bucket },
		{ "Expansion rate", s->expansion },
		{ "Max iterations", s->iterations },
	};
	redis.ReplyWithMap(context, sizeof fields / sizeof *fields);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		redis.ReplyWithSimpleString(context, fields[i].title);
		redis.ReplyWithLongLong(context, (long long)fields[i].value);
	}
}

int cf_info(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	if (argc != 2)
		return redis.WrongArity(context);
	if (!key_open(context, &cf_keys, argv[1], REDIS_READ, &key, &c)) {
		if (c)
			reply_info(context, c);
		else
			redis.ReplyWithError(context, "ERR not found");
	}
	redis.CloseKey(key);
	return REDIS_OK;
}
