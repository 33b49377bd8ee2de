/* SPDX-License-Identifier: MIT
 * The write commands BF.RESERVE, ADD, MADD and INSERT.
 *
 * Replicas and the append-only file get the effects instead of the command: BF.RESERVE with the
 * drawn seed for a new key, and BF.MADD with the added items. A replica ignores max-bytes for both,
 * so it never differs from its master. */
#include <stdio.h>
#include <strings.h>
#include "keys.h"

static const struct chain_settings by_default = { 0.01, 100, 2, 0, 0, 0 };

void bf_replicate(struct redis_context *context, struct redis_string *name,
                  const struct chain_settings *s)
{
	char error[32];
	snprintf(error, sizeof error, "%.17g", s->error);
	redis.Replicate(context, "BF.RESERVE", "sclclcl", name, error, (long long)s->capacity,
	                "EXPANSION", (long long)s->expansion, "WEIRSEED", (long long)s->seed);
}

/* ---- arguments ---- */

/* INSERT and RESERVE differ in the prefixes of their error texts. */
struct texts {
	const char *bad_error, *bad_capacity, *bad_expansion;
};
static const struct texts of_reserve = { "ERR bad error rate", "ERR bad capacity",
	                                 "ERR bad expansion" };
static const struct texts of_insert = { "Bad error rate", "Bad capacity", "Bad expansion" };

static const char *take_error(const struct texts *t, struct redis_string *s, double *out)
{
	if (redis.StringToDouble(s, out))
		return t->bad_error;
	return *out > 0 && *out < 1 ? NULL :
	       "ERR error rate must be in the range (0.000000, 1.000000)";
}

static const char *take_capacity(const struct texts *t, struct redis_string *s, uint64_t *out)
{
	return key_number(s, 1, 1 << 30, out, t->bad_capacity,
	                  "ERR capacity must be in the range [1, 1073741824]");
}

static const char *take_expansion(const struct texts *t, struct redis_string *s, uint64_t *out)
{
	return key_number(s, 0, 32768, out, t->bad_expansion,
	                  "ERR expansion must be in the range [0, 32768]");
}

/* Return: NULL, or the error. */
static const char *reserve_options(struct redis_string **argv, int argc, struct chain_settings *s)
{
	bool fixed = false, expands = false;
	long long seed;
	const char *wrong = take_error(&of_reserve, argv[2], &s->error);
	if (!wrong)
		wrong = take_capacity(&of_reserve, argv[3], &s->capacity);
	for (int i = 4; !wrong && i < argc; i++) {
		const char *word = redis.StringPtrLen(argv[i], NULL);
		if (!strcasecmp(word, "NONSCALING")) {
			fixed = true;
		} else if (!strcasecmp(word, "EXPANSION")) {
			expands = true;
			wrong = ++i < argc ? take_expansion(&of_reserve, argv[i], &s->expansion)
			                   : "ERR no expansion";
		} else if (!strcasecmp(word, "WEIRSEED") && ++i < argc &&
		           !redis.StringToLongLong(argv[i], &seed) && seed > 0) {
			s->seed = (uint64_t)seed;
		} else {
			wrong = "Unknown argument received";
		}
	}
	if (!wrong && fixed && expands && s->expansion)
		wrong = "Nonscaling filters cannot expand";
	if (fixed)
		s->expansion = 0;
	return wrong;
}

int bf_reserve(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct chain_settings s = by_default;
	if (argc < 4)
		return redis.WrongArity(context);
	const char *wrong = reserve_options(argv, argc, &s);
	return wrong ? redis.ReplyWithError(context, wrong)
	             : key_reserve(context, &bf_keys, argv[1], &s);
}

/* ---- items ---- */

/* Add the items in order and reply to each. The first item that fails gets an error and ends the
 * loop. Return: the number of replies. */
static long add_items(struct redis_context *context, struct redis_string *name, struct chain *c,
                      struct redis_string **items, int n)
{
	int taken = 0, err = 0;
	long changed = 0;
	while (taken < n && err >= 0) {
		size_t len;
		const char *item = redis.StringPtrLen(items[taken], &len);
		err = chain_add(c, item, len, key_most_for(context));
		if (err < 0) {
			key_fail(context, &bf_keys, err);
		} else {
			redis.ReplyWithBool(context, err);
			changed += err;
			taken++;
		}
	}
	if (changed)
		redis.Replicate(context, "BF.MADD", "sv", name, items, (size_t)taken);
	return taken + (err < 0);
}

/* @s: the settings for a missing key, which this function then makes; NULL: make no key */
static int add(struct redis_context *context, struct redis_string *name,
               struct chain_settings *s, struct redis_string **items, int n, bool many)
{
	struct redis_key *key;
	struct chain *c;
	if (!key_open_to_add(context, &bf_keys, name, s, &key, &c)) {
		if (many)
			redis.ReplyWithArray(context, -1); /* -1: the length is set later */
		long answers = add_items(context, name, c, items, n);
		if (many)
			redis.ReplySetArrayLength(context, answers);
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

int bf_add(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct chain_settings s = by_default;
	return argc == 3 ? add(context, argv[1], &s, argv + 2, 1, false)
	                 : redis.WrongArity(context);
}

int bf_madd(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct chain_settings s = by_default;
	return argc >= 3 ? add(context, argv[1], &s, argv + 2, argc - 2, true)
	                 : redis.WrongArity(context);
}

int bf_insert(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct chain_settings s = by_default;
	const char *wrong = NULL;
	bool create = true, fixed = false;
	int i = 2;
	for (; !wrong && i < argc; i++) {
		const char *word = redis.StringPtrLen(argv[i], NULL);
		bool last = i + 1 == argc;
		if (!strcasecmp(word, "ITEMS"))
			break;
		if (!strcasecmp(word, "NOCREATE"))
			create = false;
		else if (!strcasecmp(word, "NONSCALING"))
			fixed = true;
		else if (!strcasecmp(word, "CAPACITY") && !last)
			wrong = take_capacity(&of_insert, argv[++i], &s.capacity);
		else if (!strcasecmp(word, "ERROR") && !last)
			wrong = take_error(&of_insert, argv[++i], &s.error);
		else if (!strcasecmp(word, "EXPANSION") && !last)
			wrong = take_expansion(&of_insert, argv[++i], &s.expansion);
		else
			wrong = "Unknown argument received";
	}
	if (wrong)
		return redis.ReplyWithError(context, wrong);
	if (i + 1 >= argc)
		return redis.WrongArity(context);
	if (fixed)
		s.expansion = 0;
	return add(context, argv[1], create ? &s : NULL, argv + i + 1, argc - i - 1, true);
}
