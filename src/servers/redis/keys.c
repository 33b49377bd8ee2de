/* SPDX-License-Identifier: MIT
 * Keys and arguments of the commands BF.* and CF.*. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include "keys.h"
#include "limit.h"

struct key_options key_options = { .error = 0.01, .bf_capacity = 100, .cf_capacity = 1024,
	                           .cf_expansions = 32 };

/* A script of the master of a read-only replica has no flag of its own. */
bool key_is_client(struct redis_context *context)
{
	int flags = redis.GetContextFlags(context), replica = REDIS_IS_REPLICA | REDIS_READ_ONLY;
	return !(flags & (REDIS_REPLICATED | REDIS_LOADING)) && (flags & replica) != replica;
}

uint64_t key_most_for_value(void)
{
	return limit_is_off() ? 0 : key_options.max_bytes;
}

uint64_t key_subs_most(void)
{
	return limit_is_off() ? CUCKOO_SUBS : key_options.cf_expansions;
}

const char *key_log_level(void)
{
	return limit_is_off() ? "warning" : "verbose";
}

bool key_compat(struct redis_context *context)
{
	return key_options.compat ||
	       redis.GetContextFlags(context) & (REDIS_REPLICATED | REDIS_LOADING);
}

uint64_t key_most_for(struct redis_context *context)
{
	return key_options.max_bytes && key_is_client(context) ? key_options.max_bytes : 0;
}

static void *get_memory(size_t bytes)
{
	return limit_allows(bytes) ? redis.TryAlloc(bytes) : NULL;
}

static void put_memory(void *memory)
{
	redis.Free(memory);
}

static size_t memory_size(void *memory)
{
	return redis.MallocSize(memory);
}

const struct chain_memory key_memory = { get_memory, put_memory, memory_size };

int key_open_or(struct redis_context *context, const struct key_kind *kind,
                struct redis_string *name, int mode, struct redis_key **key, void *out,
                const char *other)
{
	void **value = out;
	*value = NULL;
	*key = redis.OpenKey(context, name, mode);
	if (!*key || redis.KeyType(*key) == REDIS_EMPTY)
		return 0;
	if (redis.ModuleTypeGetType(*key) != kind->type) {
		if (other)
			redis.ReplyWithError(context, other);
		return other ? -1 : 0;
	}
	*value = redis.ModuleTypeGetValue(*key);
	return 0;
}

static const char wrong_type[] =
	"WRONGTYPE Operation against a key holding the wrong kind of value";

int key_open(struct redis_context *context, const struct key_kind *kind,
             struct redis_string *name, int mode, struct redis_key **key, void *out)
{
	return key_open_or(context, kind, name, mode, key, out, wrong_type);
}

int key_look(struct redis_context *context, const struct key_kind *kind,
             struct redis_string *name, struct redis_key **key, void *out)
{
	return key_open_or(context, kind, name, REDIS_READ, key, out,
	                   key_compat(context) ? NULL : wrong_type);
}

void key_fail(struct redis_context *context, int err, const char *full)
{
	char text[WEIR_SENTENCE_BYTES + 200];
	snprintf(text, sizeof text, "ERR %s%s", weir_error_detail(),
	         err == -ENOMEM ? limit_why() : "");
	redis.ReplyWithError(context, err == -ENOSPC && full ? full : text);
}

void key_end(struct redis_context *context, const char *wrong)
{
	if (wrong) {
		redis.ReplyWithError(context, wrong);
	} else {
		redis.ReplicateVerbatim(context);
		redis.ReplyWithSimpleString(context, "OK");
	}
}

/* Many seeds at once, since a new key costs less than a system call. */
uint64_t key_draw_seed(void)
{
	static uint64_t drawn[32];
	static unsigned left;
	if (!left) {
		if (getrandom(drawn, sizeof drawn, 0) != sizeof drawn)
			redis.GetRandomBytes((unsigned char *)drawn, sizeof drawn);
		left = sizeof drawn / sizeof *drawn;
	}
	uint64_t seed = drawn[--left] >> 1;
	return seed ? seed : 1;
}

const char *key_number(const struct redis_string *s, uint64_t least, uint64_t most, uint64_t *out,
                       const char *bad, const char *range)
{
	long long n;
	if (redis.StringToLongLong(s, &n))
		return bad;
	if (n < 0 || (uint64_t)n < least || (uint64_t)n > most)
		return range;
	*out = (uint64_t)n;
	return NULL;
}
