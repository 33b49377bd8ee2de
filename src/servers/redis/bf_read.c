/* SPDX-License-Identifier: MIT
 * The read-only commands: BF.EXISTS, MEXISTS, CARD, INFO and DEBUG. */
#include <stdio.h>
#include <strings.h>
#include "keys.h"

int bf_exists(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	size_t len;
	if (argc != 3)
		return redis.WrongArity(context);
	if (!key_look(context, &bf_keys, argv[1], &key, &c)) {
		const char *item = redis.StringPtrLen(argv[2], &len);
		redis.ReplyWithBool(context, c && chain_has(c, item, len));
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

enum { AT_ONCE = 64 };

/* Reply for up to AT_ONCE items. Their cache misses overlap. */
static void reply_some(struct redis_context *context, const struct chain *c,
                       struct redis_string **items, unsigned n)
{
	bool found[AT_ONCE] = { false };
	uint64_t hashes[AT_ONCE];
	for (unsigned i = 0; c && i < n; i++) {
		size_t len;
		const char *item = redis.StringPtrLen(items[i], &len);
		if (c->layout == CHAIN_OWN)
			hashes[i] = chain_hash(c, item, len);
		else
			found[i] = chain_has(c, item, len);
	}
	if (c && c->layout == CHAIN_OWN)
		chain_has_hashes(c, hashes, n, found);
	for (unsigned i = 0; i < n; i++)
		redis.ReplyWithBool(context, found[i]);
}

int bf_mexists(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	if (argc < 3)
		return redis.WrongArity(context);
	if (!key_look(context, &bf_keys, argv[1], &key, &c)) {
		redis.ReplyWithArray(context, argc - 2);
		for (int i = 2; i < argc; i += AT_ONCE)
			reply_some(context, c, argv + i,
			           argc - i < AT_ONCE ? (unsigned)(argc - i) : AT_ONCE);
	}
	redis.CloseKey(key);
	return REDIS_OK;
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

/* ---- INFO ---- */

enum field { CAPACITY, SIZE, FILTERS, ITEMS, EXPANSION, FIELDS };
static const char *const words[FIELDS] = { "CAPACITY", "SIZE", "FILTERS", "ITEMS", "EXPANSION" };
static const char *const titles[FIELDS] = { "Capacity", "Size", "Number of filters",
	                                    "Number of items inserted", "Expansion rate" };

static void reply_field(struct redis_context *context, const struct chain *c, enum field f)
{
	uint64_t values[FIELDS] = { chain_all_capacity(c), chain_usage(c), c->links,
		                    chain_items(c), c->expansion };
	if (f == EXPANSION && !chain_scales(c))
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

/* ---- DEBUG ---- */

static void reply_text(struct redis_context *context, const char *text, int len)
{
	redis.ReplyWithStringBuffer(context, text, (size_t)len);
}

static void reply_debug(struct redis_context *context, const struct chain *c)
{
	struct chain_settings s = chain_settings_of(c);
	struct chain_link *link[CHAIN_LINKS];
	char text[200];
	unsigned n = chain_list(c, link);
	redis.ReplyWithArray(context, 1 + (long)n);
	reply_text(context, text, snprintf(text, sizeof text, "size:%llu",
	                                   (unsigned long long)chain_items(c)));
	for (unsigned i = 0; i < n; i++) {
		const struct chain_link *l = link[i];
		struct chain_form f = chain_form_of(l);
		unsigned probes = l->probes ? l->probes : f.words_per_key * f.bits_per_word;
		bool short_hash = c->layout == CHAIN_REDISBLOOM &&
		                  !(c->options & REDISBLOOM_HASH64);
		int len = snprintf(text, sizeof text, "bytes:%llu bits:%llu hashes:%u hashwidth:%u "
		                   "capacity:%llu size:%llu ratio:%g", (unsigned long long)l->bytes,
		                   (unsigned long long)(8 * l->bytes), probes, short_hash ? 32 : 64,
		                   (unsigned long long)l->capacity, (unsigned long long)l->items,
		                   c->layout == CHAIN_OWN ? chain_error(&s, i) : l->error);
		reply_text(context, text, len);
	}
}

int bf_debug(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	if (argc != 2)
		return redis.WrongArity(context);
	if (!key_open(context, &bf_keys, argv[1], REDIS_READ, &key, &c)) {
		if (c)
			reply_debug(context, c);
		else
			redis.ReplyWithError(context, "ERR not found");
	}
	redis.CloseKey(key);
	return REDIS_OK;
}
