/* SPDX-License-Identifier: MIT
 * The write commands BF.RESERVE, ADD, MADD and INSERT, and WEIR.BFMAKE, which replicas get for a
 * new key:
 *
 *     WEIR.BFMAKE key settings [item ...]
 *
 * The settings are 32 bytes: error rate, capacity, seed and expansion. One string costs less than
 * four numbers. Seed 0 stands for a key in RedisBloom's layout, with the first link's error rate.
 *
 * So a plain command for a missing key, from a master or a file, comes from RedisBloom. It makes a
 * key in RedisBloom's layout, with the bits that the key has there. */
#include <string.h>
#include <strings.h>
#include "keys.h"

static const char full[] = "ERR non scaling filter is full";

/* ---- arguments ---- */

/* INSERT and RESERVE have different error texts. */
struct texts {
	const char *bad_error, *bad_capacity, *bad_expansion;          /* no number */
	const char *error_range, *capacity_range, *expansion_range;    /* out of range */
};
static const struct texts of_reserve = {
	"ERR bad error rate", "ERR bad capacity", "ERR bad expansion",
	"ERR (0 < error rate range < 1) ", "ERR (capacity should be larger than 0)",
	"ERR expansion should be greater or equal to 1" };
static const struct texts of_insert = {
	"Bad error rate", "Bad capacity", "Bad expansion",
	"Bad argument received", "Bad argument received", "Bad argument received" };

static struct chain_settings by_default(void)
{
	return (struct chain_settings){ key_options.error, key_options.bf_capacity, 0, 2,
		                        CHAIN_OWN, 0 };
}

static const char *take_error(const struct texts *t, struct redis_string *s, double *out)
{
	if (redis.StringToDouble(s, out))
		return t->bad_error;
	return *out > 0 && *out < 1 ? NULL : t->error_range;
}

static const char *take_capacity(const struct texts *t, struct redis_string *s, uint64_t *out)
{
	return key_number(s, 1, INT64_MAX, out, t->bad_capacity, t->capacity_range);
}

/* A larger expansion than CHAIN_EXPANSION_MOST has no other effect than that one. */
static const char *take_expansion(const struct texts *t, struct redis_string *s, uint64_t *out)
{
	const char *wrong = key_number(s, 1, INT64_MAX, out, t->bad_expansion, t->expansion_range);
	if (!wrong && *out > CHAIN_EXPANSION_MOST)
		*out = CHAIN_EXPANSION_MOST;
	return wrong;
}

/* Return: NULL, or the error. */
static const char *reserve_options(struct redis_context *context, struct redis_string **argv,
                                   int argc, struct chain_settings *s)
{
	bool fixed = false, expands = false;
	const char *wrong = NULL;
	for (int i = 4; i < argc && (!wrong || wrong == of_reserve.expansion_range); i++) {
		const char *word = redis.StringPtrLen(argv[i], NULL);
		if (!strcasecmp(word, "NONSCALING")) {
			fixed = true;
		} else if (!strcasecmp(word, "EXPANSION")) {
			expands = true;
			wrong = ++i < argc ? take_expansion(&of_reserve, argv[i], &s->expansion)
			                   : "ERR no expansion";
		} else if (!key_compat(context)) {
			wrong = "Unknown argument received";
		}
	}
	if (fixed && expands && (!wrong || wrong == of_reserve.expansion_range))
		wrong = "Nonscaling filters cannot expand";
	if (fixed)
		s->expansion = 0;
	return wrong;
}

static const char *insert_options(struct redis_string **argv, int argc, struct chain_settings *s,
                                  bool *create, int *items)
{
	const char *wrong = NULL;
	bool fixed = false;
	int i = 2;
	for (; !wrong && i < argc; i++) {
		const char *word = redis.StringPtrLen(argv[i], NULL);
		bool last = i + 1 == argc;
		if (!strcasecmp(word, "ITEMS"))
			break;
		if (!strcasecmp(word, "NOCREATE"))
			*create = false;
		else if (!strcasecmp(word, "NONSCALING"))
			fixed = true;
		else if (!strcasecmp(word, "CAPACITY") && !last)
			wrong = take_capacity(&of_insert, argv[++i], &s->capacity);
		else if ((!strcasecmp(word, "ERROR") || !strcasecmp(word, "ERR")) && !last)
			wrong = take_error(&of_insert, argv[++i], &s->error);
		else if (!strcasecmp(word, "EXPANSION") && !last)
			wrong = take_expansion(&of_insert, argv[++i], &s->expansion);
		else
			wrong = "Unknown argument received";
	}
	*items = i + 1;
	if (fixed)
		s->expansion = 0;
	return wrong;
}

/* ---- keys and items ---- */

/* The arguments of a write command. */
struct task {
	struct redis_string *name, **items;
	int n;
	bool many;                  /* reply with an array */
	struct chain_settings make; /* capacity 0: do not make a missing key */
};

enum { SETTINGS = 4 };

static void replicate_new(struct redis_context *context, const struct task *t,
                          const struct chain *c, int taken)
{
	uint64_t s[SETTINGS] = { 0, c->capacity, c->seed, chain_scales(c) ? c->expansion : 0 };
	memcpy(&s[0], &c->error, sizeof c->error);
	for (int i = 0; i < SETTINGS; i++)
		s[i] = key_little(s[i]);
	redis.Replicate(context, "WEIR.BFMAKE", "sbv", t->name, (const char *)s, sizeof s, t->items,
	                (size_t)taken);
}

/* Only RedisBloom's last layout: before version 2.2 new keys had others. */
static void as_redisbloom(struct chain_settings *s)
{
	s->layout = CHAIN_REDISBLOOM;
	s->options = REDISBLOOM_NO_ROUND | REDISBLOOM_HASH64;
	if (!s->expansion) {
		s->options |= REDISBLOOM_NO_SCALING;
		s->expansion = 2; /* it has no effect, but is in the header of a dump */
	}
}

/* Make the key of a task. Return: its chain; or NULL, and an error reply is sent. */
static struct chain *make(struct redis_context *context, struct redis_key *key, struct task *t)
{
	struct chain *c;
	if (!t->make.seed && key_is_client(context)) {
		t->make.seed = key_draw_seed();
	} else if (!t->make.seed && t->make.layout == CHAIN_OWN) {
		t->make.error *= t->make.expansion ? 0.5 : 1;
		as_redisbloom(&t->make);
	}
	int err = chain_create(&c, &t->make, key_most_for(context), &key_memory);
	if (err) {
		key_fail(context, err, NULL);
		return NULL;
	}
	redis.ModuleTypeSetValue(key, bf_keys.type, c);
	return c;
}

/* Reply for each item, up to the first failure. @made: the key is new. */
static void add_items(struct redis_context *context, struct chain *c, const struct task *t,
                      bool made)
{
	uint64_t most = key_most_for(context);
	int taken = 0, err = 0;
	long changed = 0;
	if (t->many)
		redis.ReplyWithArray(context, -1); /* -1: the length is set later */
	while (taken < t->n && err >= 0) {
		size_t len;
		const char *item = redis.StringPtrLen(t->items[taken], &len);
		err = chain_add(c, item, len, most);
		if (err < 0) {
			key_fail(context, err, full);
		} else {
			redis.ReplyWithBool(context, err);
			changed += err;
			taken++;
		}
	}
	if (t->many)
		redis.ReplySetArrayLength(context, taken + (err < 0));
	if (made)
		replicate_new(context, t, c, taken);
	else if (changed && taken == t->n)
		redis.ReplicateVerbatim(context);
	else if (changed)
		redis.Replicate(context, "BF.MADD", "sv", t->name, t->items, (size_t)taken);
}

static int add(struct redis_context *context, struct task *t)
{
	struct redis_key *key;
	struct chain *c;
	if (!key_open(context, &bf_keys, t->name, REDIS_READ | REDIS_WRITE, &key, &c)) {
		bool missing = !c;
		if (missing && !t->make.capacity)
			redis.ReplyWithError(context, "ERR not found");
		else if (missing)
			c = make(context, key, t);
		if (c)
			add_items(context, c, t, missing);
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

static int reserve(struct redis_context *context, struct task *t)
{
	struct redis_key *key;
	struct chain *c;
	if (!key_open(context, &bf_keys, t->name, REDIS_READ | REDIS_WRITE, &key, &c)) {
		if (c) {
			redis.ReplyWithError(context, "ERR item exists");
		} else if ((c = make(context, key, t))) {
			redis.ReplyWithSimpleString(context, "OK");
			replicate_new(context, t, c, 0);
		}
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

/* ---- commands ---- */

int bf_reserve(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct task t = { .make = by_default() };
	if (argc < 4 || argc > 7)
		return redis.WrongArity(context);
	t.name = argv[1];
	const char *wrong = take_error(&of_reserve, argv[2], &t.make.error);
	if (!wrong)
		wrong = take_capacity(&of_reserve, argv[3], &t.make.capacity);
	if (!wrong)
		wrong = reserve_options(context, argv, argc, &t.make);
	return wrong ? redis.ReplyWithError(context, wrong) : reserve(context, &t);
}

int bf_make(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct task t = { .many = true };
	uint64_t s[SETTINGS];
	size_t bytes;
	if (argc < 3)
		return redis.WrongArity(context);
	const char *settings = redis.StringPtrLen(argv[2], &bytes);
	if (bytes != sizeof s)
		return redis.ReplyWithError(context, "ERR the settings are bad");
	memcpy(s, settings, sizeof s);
	for (int i = 0; i < SETTINGS; i++)
		s[i] = key_little(s[i]);
	memcpy(&t.make.error, &s[0], sizeof t.make.error);
	t.make.capacity = s[1];
	t.make.seed = s[2];
	t.make.expansion = s[3];
	if (!t.make.seed)
		as_redisbloom(&t.make);
	if (!t.make.capacity)
		return redis.ReplyWithError(context, "ERR the settings are bad");
	t.name = argv[1];
	t.items = argv + 3;
	t.n = argc - 3;
	return t.n ? add(context, &t) : reserve(context, &t);
}

int bf_add(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct task t = { argv[1], argv + 2, 1, false, by_default() };
	return argc == 3 ? add(context, &t) : redis.WrongArity(context);
}

int bf_madd(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct task t = { argv[1], argv + 2, argc - 2, true, by_default() };
	return argc >= 3 ? add(context, &t) : redis.WrongArity(context);
}

int bf_insert(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct task t = { .many = true, .make = by_default() };
	bool create = true;
	int items = 0;
	if (argc < 4)
		return redis.WrongArity(context);
	const char *wrong = insert_options(argv, argc, &t.make, &create, &items);
	if (wrong)
		return redis.ReplyWithError(context, wrong);
	if (items >= argc)
		return redis.WrongArity(context);
	if (!create)
		t.make.capacity = 0;
	t.name = argv[1];
	t.items = argv + items;
	t.n = argc - items;
	return add(context, &t);
}
