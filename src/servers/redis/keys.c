/* SPDX-License-Identifier: MIT
 * Keys and arguments of the commands BF.* and CF.*. */
#include <errno.h>
#include <stdio.h>
#include "keys.h"

uint64_t key_most;

uint64_t key_most_for(struct redis_context *context)
{
	int flags = redis.GetContextFlags(context);
	return flags & (REDIS_REPLICATED | REDIS_LOADING) ? 0 : key_most;
}

static void *get_memory(size_t bytes)
{
	return redis.TryAlloc(bytes);
}

static void put_memory(void *memory)
{
	redis.Free(memory);
}

const struct chain_memory key_memory = { get_memory, put_memory };

int key_open(struct redis_context *context, const struct key_kind *kind,
             struct redis_string *name, int mode, struct redis_key **key, struct chain **out)
{
	*out = NULL;
	*key = redis.OpenKey(context, name, mode);
	if (!*key || redis.KeyType(*key) == REDIS_EMPTY)
		return 0;
	if (redis.ModuleTypeGetType(*key) != kind->type) {
		redis.ReplyWithError(context, "WRONGTYPE Operation against a key holding the "
		                              "wrong kind of value");
		return -1;
	}
	*out = redis.ModuleTypeGetValue(*key);
	return 0;
}

void key_fail(struct redis_context *context, const struct key_kind *kind, int err)
{
	char text[WEIR_SENTENCE_BYTES + 8];
	snprintf(text, sizeof text, "ERR %s", weir_error_detail());
	redis.ReplyWithError(context, err == -ENOSPC && kind ? kind->full : text);
}

/* ---- creation ---- */

static uint64_t draw_seed(void)
{
	uint64_t seed;
	redis.GetRandomBytes((unsigned char *)&seed, sizeof seed);
	seed >>= 1; /* below 2^63, the largest number that every client can read */
	return seed ? seed : 1;
}

static struct chain *make(struct redis_context *context, const struct key_kind *kind,
                          struct redis_string *name, struct redis_key *key,
                          struct chain_settings *s)
{
	struct chain *c;
	if (!s->seed)
		s->seed = draw_seed();
	int err = chain_create(&c, s, key_most_for(context), &key_memory);
	if (err) {
		key_fail(context, kind, err);
		return NULL;
	}
	redis.ModuleTypeSetValue(key, kind->type, c);
	kind->replicate(context, name, s);
	return c;
}

int key_open_to_add(struct redis_context *context, const struct key_kind *kind,
                    struct redis_string *name, struct chain_settings *s, struct redis_key **key,
                    struct chain **out)
{
	int failed = key_open(context, kind, name, REDIS_READ | REDIS_WRITE, key, out);
	if (!failed && !*out && s)
		*out = make(context, kind, name, *key, s);
	else if (!failed && !*out)
		redis.ReplyWithError(context, "ERR not found");
	return *out ? 0 : -1;
}

int key_reserve(struct redis_context *context, const struct key_kind *kind,
                struct redis_string *name, struct chain_settings *s)
{
	struct redis_key *key;
	struct chain *c;
	if (!key_open(context, kind, name, REDIS_READ | REDIS_WRITE, &key, &c)) {
		if (c)
			redis.ReplyWithError(context, "ERR item exists");
		else if (make(context, kind, name, key, s))
			redis.ReplyWithSimpleString(context, "OK");
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

/* ---- arguments ---- */

int key_reply_contains(struct redis_context *context, const struct key_kind *kind,
                       struct redis_string **argv, int argc, bool many)
{
	struct redis_key *key;
	struct chain *c;
	if (!key_open(context, kind, argv[1], REDIS_READ, &key, &c)) {
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

const char *key_number(const struct redis_string *s, uint64_t least, uint64_t most, uint64_t *out,
                       const char *bad, const char *range)
{
	long long n;
	if (redis.StringToLongLong(s, &n))
		return bad;
	if ((uint64_t)n < least || (uint64_t)n > most) /* a negative number is above @most */
		return range;
	*out = (uint64_t)n;
	return NULL;
}
