/* SPDX-License-Identifier: MIT
 * The commands that only look: BF.EXISTS, MEXISTS, CARD and INFO. */
#include <string.h>
#include <strings.h>
#include "bf.h"

int bf_open(struct redis_context *context, struct redis_string *name, int mode,
            struct redis_key **key, struct chain **out)
{
	*out = NULL;
	*key = redis.OpenKey(context, name, mode);
	if (!*key || redis.KeyType(*key) == REDIS_EMPTY)
		return 0;
	if (redis.ModuleTypeGetType(*key) != bf_type) {
		redis.ReplyWithError(context, "WRONGTYPE Operation against a key holding the "
		                              "wrong kind of value");
		return -1;
	}
	*out = redis.ModuleTypeGetValue(*key);
	return 0;
}

static int look(struct redis_context *context, struct redis_string **argv, int argc, bool many)
{
	struct redis_key *key;
	struct chain *c;
	if (!bf_open(context, argv[1], REDIS_READ, &key, &c)) {
		if (many)
			redis.ReplyWithArray(context, argc - 2);
		for (int i = 2; i < argc; i++) {
			size_t len;
			const char *item = redis.StringPtrLen(argv[i], &len);
			redis.ReplyWithBool(context, c && chain_has(c, item, len));
		}
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

int bf_exists(struct redis_context *context, struct redis_string **argv, int argc)
{
	return argc == 3 ? look(context, argv, argc, false) : redis.WrongArity(context);
}

int bf_mexists(struct redis_context *context, struct redis_string **argv, int argc)
{
	return argc >= 3 ? look(context, argv, argc, true) : redis.WrongArity(context);
}

int bf_card(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	if (argc != 2)
		return redis.WrongArity(context);
	if (!bf_open(context, argv[1], REDIS_READ, &key, &c))
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
		redis.ReplyWithArray(context, 1);
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
	if (!bf_open(context, argv[1], REDIS_READ, &key, &c))
		reply_info(context, c, argc == 3 ? redis.StringPtrLen(argv[2], NULL) : NULL);
	redis.CloseKey(key);
	return REDIS_OK;
}
