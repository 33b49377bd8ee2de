/* SPDX-License-Identifier: MIT
 * CF.DEL and CF.COMPACT. */
#include "keys.h"

int cf_del(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct cuckoo *c;
	size_t len;
	if (argc != 3)
		return redis.WrongArity(context);
	if (!key_open_or(context, &cf_keys, argv[1], REDIS_READ | REDIS_WRITE, &key, &c,
	                 "Not found")) {
		const char *item = redis.StringPtrLen(argv[2], &len);
		bool found = c && cuckoo_remove(c, item, len);
		if (c)
			redis.ReplyWithBool(context, found);
		else
			redis.ReplyWithError(context, "Not found");
		if (found)
			redis.ReplicateVerbatim(context);
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

int cf_compact(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct cuckoo *c;
	if (argc != 2)
		return redis.WrongArity(context);
	if (!key_open_or(context, &cf_keys, argv[1], REDIS_READ | REDIS_WRITE, &key, &c,
	                 "Cuckoo filter was not found")) {
		if (c) {
			cuckoo_compact(c);
			redis.ReplicateVerbatim(context);
			redis.ReplyWithSimpleString(context, "OK");
		} else {
			redis.ReplyWithError(context, "Cuckoo filter was not found");
		}
	}
	redis.CloseKey(key);
	return REDIS_OK;
}
