/* SPDX-License-Identifier: MIT
 * The read-only commands: CF.EXISTS, MEXISTS, COUNT, INFO and DEBUG. */
#include <stdio.h>
#include "keys.h"

static int exists(struct redis_context *context, struct redis_string **argv, int argc, bool many)
{
	struct redis_key *key;
	struct cuckoo *c;
	if (!key_look(context, &cf_keys, argv[1], &key, &c)) {
		if (many)
			redis.ReplyWithArray(context, argc - 2);
		for (int i = 2; i < argc; i++) {
			size_t len;
			const char *item = redis.StringPtrLen(argv[i], &len);
			redis.ReplyWithBool(context, c && cuckoo_has(c, item, len));
		}
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

int cf_exists(struct redis_context *context, struct redis_string **argv, int argc)
{
	return argc == 3 ? exists(context, argv, argc, false) : redis.WrongArity(context);
}

int cf_mexists(struct redis_context *context, struct redis_string **argv, int argc)
{
	return argc >= 3 ? exists(context, argv, argc, true) : redis.WrongArity(context);
}

int cf_count(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct cuckoo *c;
	size_t len;
	if (argc != 3)
		return redis.WrongArity(context);
	if (!key_look(context, &cf_keys, argv[1], &key, &c)) {
		const char *item = redis.StringPtrLen(argv[2], &len);
		redis.ReplyWithLongLong(context, c ? (long long)cuckoo_count(c, item, len) : 0);
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

static void reply_info(struct redis_context *context, const struct cuckoo *c)
{
	const struct {
		const char *title;
		uint64_t value;
	} fields[] = {
		{ "Size", cuckoo_usage(c) },
		{ "Number of buckets", c->buckets },
		{ "Number of filters", c->subs },
		{ "Number of items inserted", c->items },
		{ "Number of items deleted", c->deleted },
		{ "Bucket size", c->bucket },
		{ "Expansion rate", c->expansion },
		{ "Max iterations", c->iterations },
	};
	redis.ReplyWithMap(context, sizeof fields / sizeof *fields);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		redis.ReplyWithSimpleString(context, fields[i].title);
		redis.ReplyWithLongLong(context, (long long)fields[i].value);
	}
}

static void reply_debug(struct redis_context *context, const struct cuckoo *c)
{
	char text[200];
	int len = snprintf(text, sizeof text, "bktsize:%u buckets:%llu items:%llu deletes:%llu "
	                   "filters:%u max_iterations:%u expansion:%u", c->bucket,
	                   (unsigned long long)c->buckets, (unsigned long long)c->items,
	                   (unsigned long long)c->deleted, c->subs, c->iterations, c->expansion);
	redis.ReplyWithStringBuffer(context, text, (size_t)len);
}

static int tell(struct redis_context *context, struct redis_string **argv, int argc,
                void (*reply)(struct redis_context *, const struct cuckoo *))
{
	struct redis_key *key;
	struct cuckoo *c;
	if (argc != 2)
		return redis.WrongArity(context);
	if (!key_open(context, &cf_keys, argv[1], REDIS_READ, &key, &c)) {
		if (c)
			reply(context, c);
		else
			redis.ReplyWithError(context, "ERR not found");
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

int cf_info(struct redis_context *context, struct redis_string **argv, int argc)
{
	return tell(context, argv, argc, reply_info);
}

int cf_debug(struct redis_context *context, struct redis_string **argv, int argc)
{
	return tell(context, argv, argc, reply_debug);
}
