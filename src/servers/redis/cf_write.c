/* SPDX-License-Identifier: MIT
 * The write commands CF.RESERVE, ADD, ADDNX, INSERT and INSERTNX, and WEIR.CFMAKE, which replicas
 * get for a new key:
 *
 *     WEIR.CFMAKE key buckets seed bucket-size iterations expansion [item ...]
 *
 * So a plain command for a missing key, from a master or a file, comes from RedisBloom. It makes a
 * key with seed 0, which has RedisBloom's hash. With another hash CF.ADDNX could find an item that
 * the master did not find, and a later CF.DEL would remove the fingerprint of another item. */
#include <errno.h>
#include <strings.h>
#include "keys.h"

static const struct {
	const char *name;
	uint64_t least, most;
	size_t at; /* offset in the settings */
	const char *bad, *range;
} options[] = {
	{ "BUCKETSIZE", 1, CUCKOO_BUCKET_MOST, offsetof(struct cuckoo_settings, bucket),
	  "Couldn't parse BUCKETSIZE",
	  "BUCKETSIZE: value must be an integer between 1 and 255, inclusive." },
	{ "MAXITERATIONS", 1, UINT16_MAX, offsetof(struct cuckoo_settings, iterations),
	  "Couldn't parse MAXITERATIONS",
	  "MAXITERATIONS: value must be an integer between 1 and 65535, inclusive." },
	{ "EXPANSION", 0, CUCKOO_EXPANSION_MOST, offsetof(struct cuckoo_settings, expansion),
	  "Couldn't parse EXPANSION",
	  "EXPANSION: value must be an integer between 0 and 32768, inclusive." },
};
enum { OPTIONS = sizeof options / sizeof *options };

static const struct cuckoo_settings by_default = { 0, 0, 2, 20, 1, false };

/* Return: the least power of two that is not below @n, for n up to 2^63; 0 for 0. */
static uint64_t round_up(uint64_t n)
{
	uint64_t power = n ? 1 : 0;
	while (power < n)
		power *= 2;
	return power;
}

/* Return: NULL, or the error. */
static const char *take_capacity(const struct redis_string *s, uint64_t bucket, uint64_t *out)
{
	return key_number(s, 2 * bucket, INT64_MAX, out, "Bad capacity",
	                  "Capacity must be at least (BucketSize * 2)");
}

static const char *reserve_options(struct redis_context *context, struct redis_string **argv,
                                   int argc, struct cuckoo_settings *s, uint64_t *capacity)
{
	const char *wrong = NULL;
	for (int i = 3; !wrong && i < argc; i += 2) {
		const char *word = redis.StringPtrLen(argv[i], NULL);
		int k = 0;
		while (k < OPTIONS && strcasecmp(word, options[k].name))
			k++;
		if (k < OPTIONS)
			wrong = key_number(argv[i + 1], options[k].least, options[k].most,
			                   (uint64_t *)((char *)s + options[k].at), options[k].bad,
			                   options[k].range);
		else if (!key_compat(context))
			wrong = "Unknown argument received";
	}
	return wrong ? wrong : take_capacity(argv[2], s->bucket, capacity);
}

/* ---- keys ---- */

/* The arguments of a write command. */
struct task {
	struct redis_string *name, **items;
	int n;
	bool create, absent, many;
	uint64_t capacity;           /* of a new key */
	struct cuckoo_settings make; /* buckets 0: they follow from the capacity */
};

static void replicate_new(struct redis_context *context, const struct task *t,
                          const struct cuckoo *c, struct redis_string **items, size_t n)
{
	redis.Replicate(context, "WEIR.CFMAKE", "slllllv", t->name, (long long)c->buckets,
	                (long long)c->seed, (long long)c->bucket, (long long)c->iterations,
	                (long long)c->expansion, items, n);
}

/* Make the key of a task. Return: its filter; or NULL, and an error reply is sent. */
static struct cuckoo *make(struct redis_context *context, struct redis_key *key, struct task *t)
{
	struct cuckoo *c;
	struct cuckoo_settings *s = &t->make;
	if (!s->buckets) {
		uint64_t buckets = t->capacity / s->bucket;
		s->buckets = buckets ? round_up(buckets) : 1;
		s->expansion = round_up(s->expansion);
		s->seed = key_is_client(context) ? key_draw_seed() : 0;
	}
	int err = cuckoo_create(&c, s, key_most_for(context), &key_memory);
	if (err == -EINVAL || err == -EFBIG || err == -ENOMEM)
		redis.ReplyWithError(context, "ERR Insufficient memory to create filter");
	else if (err)
		key_fail(context, err, NULL);
	else
		redis.ModuleTypeSetValue(key, cf_keys.type, c);
	return err ? NULL : c;
}

static int reserve(struct redis_context *context, struct task *t)
{
	struct redis_key *key;
	struct cuckoo *c;
	if (!key_open(context, &cf_keys, t->name, REDIS_READ | REDIS_WRITE, &key, &c)) {
		if (c) {
			redis.ReplyWithError(context, "ERR item exists");
		} else if ((c = make(context, key, t))) {
			redis.ReplyWithSimpleString(context, "OK");
			replicate_new(context, t, c, NULL, 0);
		}
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

/* ---- items ---- */

static void answer(struct redis_context *context, const struct task *t, int answered)
{
	/* As RedisBloom: CF.INSERT answers false in RESP3, although the reply then does not tell a
	 * full key from a duplicate. */
	bool as_bool = answered < 0 && t->many && !t->absent &&
	               redis.GetContextFlags(context) & REDIS_RESP3;
	if (as_bool)
		redis.ReplyWithBool(context, 0);
	else if (answered < 0 && t->many)
		redis.ReplyWithLongLong(context, -1);
	else if (answered < 0)
		key_fail(context, answered, "Filter is full");
	else if (t->many && t->absent) /* an integer in RESP3 too, since the array may contain -1 */
		redis.ReplyWithLongLong(context, answered);
	else
		redis.ReplyWithBool(context, answered);
}

/* @added: has a slot for each item, and receives those that were added. @limited: set if a memory
 * limit refused an item. Return: the number of added items. */
static size_t add_each(struct redis_context *context, struct cuckoo *c, const struct task *t,
                       struct redis_string **added, bool *limited)
{
	uint64_t most = key_most_for(context);
	size_t n = 0;
	for (int i = 0; i < t->n; i++) {
		size_t len;
		const char *item = redis.StringPtrLen(t->items[i], &len);
		int answered = cuckoo_add(c, item, len, t->absent, most);
		answer(context, t, answered);
		*limited |= answered < 0 && answered != -ENOSPC;
		if (answered == 1)
			added[n++] = t->items[i];
	}
	return n;
}

static void add_items(struct redis_context *context, struct cuckoo *c, const struct task *t,
                      bool made)
{
	struct redis_string *one[1], **added = one;
	bool limited = false;
	if (t->n > 1)
		added = key_memory.get((size_t)t->n * sizeof(*added));
	if (!added) {
		redis.ReplyWithError(context, "ERR no memory for the items");
		if (made)
			replicate_new(context, t, c, NULL, 0);
		return;
	}
	if (t->many)
		redis.ReplyWithArray(context, t->n);
	size_t n = add_each(context, c, t, added, &limited);
	if (made)
		replicate_new(context, t, c, added, n);
	else if (n && !limited)
		redis.ReplicateVerbatim(context);
	else if (n)
		redis.Replicate(context, "CF.INSERT", "scv", t->name, "ITEMS", added, n);
	if (added != one)
		key_memory.put(added);
}

static int add(struct redis_context *context, struct task *t)
{
	struct redis_key *key;
	struct cuckoo *c;
	if (!key_open(context, &cf_keys, t->name, REDIS_READ | REDIS_WRITE, &key, &c)) {
		bool missing = !c;
		if (missing && !t->create)
			redis.ReplyWithError(context, "ERR not found");
		else if (missing)
			c = make(context, key, t);
		if (c && !missing && c->subs >= key_options.cf_expansions && key_is_client(context))
			redis.ReplyWithError(context, "Maximum expansions reached");
		else if (c)
			add_items(context, c, t, missing);
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

/* ---- commands ---- */

int cf_reserve(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct task t = { .make = by_default };
	if (argc < 3 || argc % 2 == 0)
		return redis.WrongArity(context);
	t.name = argv[1];
	const char *wrong = reserve_options(context, argv, argc, &t.make, &t.capacity);
	return wrong ? redis.ReplyWithError(context, wrong) : reserve(context, &t);
}

int cf_make(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct task t = { .create = true, .many = true };
	long long n[5] = { 0 };
	bool bad = false;
	if (argc < 7)
		return redis.WrongArity(context);
	for (int i = 0; i < 5; i++)
		bad |= redis.StringToLongLong(argv[2 + i], &n[i]) != REDIS_OK;
	t.make = (struct cuckoo_settings){ (uint64_t)n[0], (uint64_t)n[1], (uint64_t)n[2],
		                           (uint64_t)n[3], (uint64_t)n[4], false };
	if (bad || !t.make.buckets)
		return redis.ReplyWithError(context, "ERR a number is bad");
	t.name = argv[1];
	t.items = argv + 7;
	t.n = argc - 7;
	return t.n ? add(context, &t) : reserve(context, &t);
}

static int add_one(struct redis_context *context, struct redis_string **argv, int argc,
                   bool absent)
{
	struct task t = { argv[1], argv + 2, 1, true, absent, false, key_options.cf_capacity,
		          by_default };
	return argc == 3 ? add(context, &t) : redis.WrongArity(context);
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
	struct task t = { argv[1], NULL, 0, true, absent, true, key_options.cf_capacity,
		          by_default };
	const char *wrong = NULL;
	int i = 2;
	if (argc < 4)
		return redis.WrongArity(context);
	for (; !wrong && i < argc; i++) {
		const char *word = redis.StringPtrLen(argv[i], NULL);
		if (!strcasecmp(word, "ITEMS"))
			break;
		if (!strcasecmp(word, "NOCREATE"))
			t.create = false;
		else if (!strcasecmp(word, "CAPACITY") && i + 1 < argc)
			wrong = take_capacity(argv[++i], t.make.bucket, &t.capacity);
		else
			wrong = "Unknown argument received";
	}
	if (wrong)
		return redis.ReplyWithError(context, wrong);
	if (i + 1 >= argc)
		return redis.WrongArity(context);
	t.items = argv + i + 1;
	t.n = argc - i - 1;
	return add(context, &t);
}

int cf_insert(struct redis_context *context, struct redis_string **argv, int argc)
{
	return insert(context, argv, argc, false);
}

int cf_insertnx(struct redis_context *context, struct redis_string **argv, int argc)
{
	return insert(context, argv, argc, true);
}
