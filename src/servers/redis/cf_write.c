/* SPDX-License-Identifier: MIT
 * The write commands CF.RESERVE, ADD, ADDNX, INSERT, INSERTNX and DEL.
 *
 * Replicas and the append-only file get the effects instead of the command: CF.RESERVE with the
 * drawn seed for a new key, and CF.INSERT with the added items in their order. A replica ignores
 * max-bytes for both, so it never differs from its master. */
#include <strings.h>
#include "keys.h"

static const struct chain_settings by_default = { 0, 1024, 1, 0, 2, 20 };

void cf_replicate(struct redis_context *context, struct redis_string *name,
                  const struct chain_settings *s)
{
	redis.Replicate(context, "CF.RESERVE", "slclclclcl", name, (long long)s->capacity,
	                "BUCKETSIZE", (long long)s->bucket, "MAXITERATIONS",
	                (long long)s->iterations, "EXPANSION", (long long)s->expansion, "WEIRSEED",
	                (long long)s->seed);
}

/* ---- RESERVE ---- */

static const char bad_capacity[] = "Bad capacity", unknown[] = "Unknown argument received";

static const struct {
	const char *name;
	uint64_t least, most;
	size_t at; /* offset in the settings */
	const char *bad, *range;
} options[] = {
	{ "BUCKETSIZE", 1, 255, offsetof(struct chain_settings, bucket),
	  "Couldn't parse BUCKETSIZE", "BUCKETSIZE: value must be in the range [1, 255]" },
	{ "MAXITERATIONS", 1, 65535, offsetof(struct chain_settings, iterations),
	  "Couldn't parse MAXITERATIONS", "MAXITERATIONS: value must be in the range [1, 65535]" },
	{ "EXPANSION", 0, 32768, offsetof(struct chain_settings, expansion),
	  "Couldn't parse EXPANSION", "EXPANSION: value must be in the range [0, 32768]" },
	{ "WEIRSEED", 1, INT64_MAX, offsetof(struct chain_settings, seed), "ERR bad seed",
	  "ERR bad seed" },
};
enum { OPTIONS = sizeof options / sizeof *options };

/* Round up to a power of two, as RedisBloom does; 0 stays 0. */
static uint64_t round_up(uint64_t n)
{
	uint64_t power = n ? 1 : 0;
	while (power < n)
		power *= 2;
	return power;
}

/* Return: NULL, or the error. */
static const char *reserve_options(struct redis_string **argv, int argc, struct chain_settings *s)
{
	const char *wrong = NULL;
	for (int i = 3; !wrong && i < argc; i += 2) {
		const char *word = redis.StringPtrLen(argv[i], NULL);
		int k = 0;
		while (k < OPTIONS && strcasecmp(word, options[k].name))
			k++;
		wrong = k == OPTIONS ? unknown
		                     : key_number(argv[i + 1], options[k].least, options[k].most,
		                                  (uint64_t *)((char *)s + options[k].at),
		                                  options[k].bad, options[k].range);
	}
	s->expansion = round_up(s->expansion);
	return wrong ? wrong
	             : key_number(argv[2], 2 * s->bucket, 1 << 30, &s->capacity, bad_capacity,
	                          "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]");
}

int cf_reserve(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct chain_settings s = by_default;
	if (argc < 3 || argc % 2 == 0)
		return redis.WrongArity(context);
	const char *wrong = reserve_options(argv, argc, &s);
	return wrong ? redis.ReplyWithError(context, wrong)
	             : key_reserve(context, &cf_keys, argv[1], &s);
}

/* ---- items ---- */

/* Arguments of ADD, ADDNX, INSERT or INSERTNX. */
struct task {
	struct chain_settings settings;
	bool create, absent, many;
	struct redis_string **items;
	int n;
};

static void answer(struct redis_context *context, const struct task *t, int answered)
{
	if (answered < 0 && t->many)
		redis.ReplyWithLongLong(context, -1);
	else if (answered < 0)
		key_fail(context, &cf_keys, answered);
	else if (t->many && t->absent) /* an integer in RESP3 too, since the array may contain -1 */
		redis.ReplyWithLongLong(context, answered);
	else
		redis.ReplyWithBool(context, answered);
}

/* @added: has a slot for each item. Return: the number of added items. */
static size_t add_each(struct redis_context *context, struct chain *c, const struct task *t,
                       struct redis_string **added)
{
	size_t n = 0;
	for (int i = 0; i < t->n; i++) {
		size_t len;
		const char *item = redis.StringPtrLen(t->items[i], &len);
		int answered = chain_insert(c, item, len, t->absent, key_most_for(context));
		answer(context, t, answered);
		if (answered == 1)
			added[n++] = t->items[i];
	}
	return n;
}

static void add_items(struct redis_context *context, struct redis_string *name, struct chain *c,
                      const struct task *t)
{
	struct redis_string **added = key_memory.get((size_t)t->n * sizeof(*added));
	if (!added) {
		redis.ReplyWithError(context, "ERR no memory for the items");
		return;
	}
	if (t->many)
		redis.ReplyWithArray(context, t->n);
	size_t n = add_each(context, c, t, added);
	if (n)
		redis.Replicate(context, "CF.INSERT", "scv", name, "ITEMS", added, n);
	key_memory.put(added);
}

static int add(struct redis_context *context, struct redis_string *name, struct task *t)
{
	struct redis_key *key;
	struct chain *c;
	if (!key_open_to_add(context, &cf_keys, name, t->create ? &t->settings : NULL, &key, &c))
		add_items(context, name, c, t);
	redis.CloseKey(key);
	return REDIS_OK;
}

static int add_one(struct redis_context *context, struct redis_string **argv, int argc,
                   bool absent)
{
	struct task t = { by_default, true, absent, false, argv + 2, 1 };
	return argc == 3 ? add(context, argv[1], &t) : redis.WrongArity(context);
}

int cf_add(struct redis_context *context, struct redis_string **argv, int argc)
{
	return add_one(context, argv, argc, false);
}

int cf_addnx(struct redis_context *context, struct redis_string **argv, int argc)
{
	return add_one(context, argv, argc, true);
}

static int insert(struct redis_context *context, struct redis_string **argv, int argc,
                  bool absent)
{
	struct task t = { by_default, true, absent, true, NULL, 0 };
	const char *wrong = NULL;
	int i = 2;
	for (; !wrong && i < argc; i++) {
		const char *word = redis.StringPtrLen(argv[i], NULL);
		if (!strcasecmp(word, "ITEMS"))
			break;
		if (!strcasecmp(word, "NOCREATE"))
			t.create = false;
		else if (!strcasecmp(word, "CAPACITY") && i + 1 < argc)
			wrong = key_number(argv[++i], 2 * t.settings.bucket, 1 << 30,
			                   &t.settings.capacity, bad_capacity,
			                   "Capacity must be in the range [cf-bucket-size * 2, "
			                   "1073741824]");
		else
			wrong = unknown;
	}
	if (wrong)
		return redis.ReplyWithError(context, wrong);
	if (i + 1 >= argc)
		return redis.WrongArity(context);
	t.items = argv + i + 1;
	t.n = argc - i - 1;
	return add(context, argv[1], &t);
}

int cf_insert(struct redis_context *context, struct redis_string **argv, int argc)
{
	return insert(context, argv, argc, false);
}

int cf_insertnx(struct redis_context *context, struct redis_string **argv, int argc)
{
	return insert(context, argv, argc, true);
}

int cf_del(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	size_t len;
	if (argc != 3)
		return redis.WrongArity(context);
	if (!key_open(context, &cf_keys, argv[1], REDIS_READ | REDIS_WRITE, &key, &c)) {
		const char *item = redis.StringPtrLen(argv[2], &len);
		bool found = c && chain_remove(c, item, len);
		if (c)
			redis.ReplyWithBool(context, found);
		else
			redis.ReplyWithError(context, "Not found");
		if (found)
			redis.Replicate(context, "CF.DEL", "v", argv + 1, (size_t)2);
	}
	redis.CloseKey(key);
	return REDIS_OK;
}
