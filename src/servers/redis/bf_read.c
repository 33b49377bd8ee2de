/* SPDX-License-Identifier: MIT
 * The read-only commands: BF.EXISTS, MEXISTS, CARD and INFO. */
#include <strings.h>
#include "keys.h"

int bf_exists(struct redis_context *context, struct redis_string **argv, int argc)
{
	return argc == 3 ? key_reply_contains(context, &bf_keys, argv, argc, false)
	                 : redis.WrongArity(context);
}

int bf_mexists(struct redis_context *context, struct redis_string **argv, int argc)
{
	return argc >= 3 ? key_reply_contains(context, &bf_keys, argv, argc, true)
	                 : redis.WrongArity(context);
}

int bf_card(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	if (argc != 2)
		return redis.WrongArity(context);
	if (!key_open(context, &bf_keys, argv[1], REDIS_READ, &key, &c))
		redis.ReplyWithLongLong(context, c ? (long long)chain_items(c) : 0);
	redis.CloseKey(key);
	return REDIS_OK;
}

enum field { CAPACITY, SIZE, FILTERS, ITEMS, EXPANSION, FIELDS };
static const char *const words[FIELDS] = { "CAPACITY", "SIZE", "FILTERS", "ITEMS", "EXPANSION" };
static const char *const titles[FIELDS] = { "Capacity", "Size", "Number of filters",
	                                    "Number of items inserted", "Expansion rate" };

static void reply_field(struct redis_context *context, const struct chain *c, enum field f)
{
	uint64_t values[FIELDS] = { chain_capacity(c), chain_bytes(c) + sizeof *c, c->links,
		                    chain_items(c), c->settings.expansion };
	if (f == EXPANSION && !c->settings.expansion)
		redis.ReplyWithNull(context);
	else
		redis.ReplyWithLongLong(context, (long long)values[f]);
}

static void reply_info(struct redis_context *context, const struct chain *c, const char *word)
{
	enum field f = 0;
	while (word && f < FIELDS && strcasecmp(words[f], word))
		f++;
	if (!c) {
		redis.ReplyWithError(context, "ERR not found");
	} else if (f == FIELDS) {
		redis.ReplyWithError(context, "Invalid information value");
	} else if (word) {
		if (redis.GetContextFlags(context) & REDIS_RESP3) {
			redis.ReplyWithMap(context, 1);
			redis.ReplyWithSimpleString(context, titles[f]);
		} else {
			redis.ReplyWithArray(context, 1);
		}
		reply_field(context, c, f);
	} else {
		redis.ReplyWithMap(context, FIELDS);
		for (f = 0; f < FIELDS; f++) {
			redis.ReplyWithSimpleString(context, titles[f]);
			reply_field(context, c, f);
		}
	}
}

int bf_info(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	if (argc != 2 && argc != 3)
		return redis.WrongArity(context);
	if (!key_open(context, &bf_keys, argv[1], REDIS_READ, &key, &c))
		reply_info(context, c, argc == 3 ? redis.StringPtrLen(argv[2], NULL) : NULL);
	redis.CloseKey(key);
	return REDIS_OK;
}
