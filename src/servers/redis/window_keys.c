/* SPDX-License-Identifier: MIT
 * The commands WEIR.WINDOW.RESERVE, ADD, MADD, EXISTS, MEXISTS and INFO. */
#include <stdio.h>
#include <strings.h>
#include "window_keys.h"

static const char full[] = "ERR non scaling filter is full";

/* ---- RESERVE ---- */

static const char *take_settings(struct redis_string **argv, struct window_settings *s)
{
	if (redis.StringToDouble(argv[2], &s->error))
		return "ERR bad error rate";
	if (!(s->error > 0 && s->error < 1))
		return "ERR (0 < error rate range < 1) ";
	const char *wrong = key_number(argv[3], 1, CHAIN_CAPACITY_MOST, &s->capacity,
	                               "ERR bad capacity", "ERR capacity must be 1 to 2^48");
	return wrong ? wrong
	             : key_number(argv[4], 1, WINDOW_SECONDS_MOST, &s->seconds, "ERR bad seconds",
	                          "ERR seconds must be 1 to 4294967295");
}

static const char *take_options(struct redis_string **argv, int argc, struct window_settings *s)
{
	bool fixed = false, expands = false;
	const char *wrong = NULL;
	for (int i = 5; i < argc && !wrong; i++) {
		const char *word = redis.StringPtrLen(argv[i], NULL);
		bool last = i + 1 == argc;
		if (!strcasecmp(word, "NONSCALING")) {
			fixed = true;
		} else if (!strcasecmp(word, "GENERATIONS") && !last) {
			wrong = key_number(argv[++i], 1, WINDOW_GENERATIONS, &s->generations,
			                   "ERR bad generations",
			                   "ERR generations must be 1 to 64");
		} else if (!strcasecmp(word, "EXPANSION") && !last) {
			expands = true;
			wrong = key_number(argv[++i], 1, CHAIN_EXPANSION_MOST, &s->expansion,
			                   "ERR bad expansion",
			                   "ERR expansion must be 1 to 4294967295");
		} else {
			wrong = "ERR unknown argument, or its number is missing";
		}
	}
	if (fixed && expands && !wrong)
		wrong = "ERR nonscaling filters cannot expand";
	if (fixed)
		s->expansion = 0;
	return wrong;
}

static void reserve(struct redis_context *context, struct redis_key *key,
                    struct redis_string *name, const struct window_settings *s)
{
	struct window *w;
	int err = window_create(&w, s, window_clock(), key_most_for(context), &key_memory);
	if (err) {
		key_fail(context, err, NULL);
		return;
	}
	redis.ModuleTypeSetValue(key, window_keys.type, w);
	redis.ReplyWithSimpleString(context, "OK");
	window_replicate_new(context, name, w);
}

int window_reserve(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct window_settings s = { .generations = 4, .expansion = 2 };
	struct redis_key *key;
	struct window *w;
	if (argc < 5)
		return redis.WrongArity(context);
	const char *wrong = take_settings(argv, &s);
	if (!wrong)
		wrong = take_options(argv, argc, &s);
	if (wrong)
		return redis.ReplyWithError(context, wrong);
	s.seed = key_draw_seed();
	if (!key_open(context, &window_keys, argv[1], REDIS_READ | REDIS_WRITE, &key, &w)) {
		if (w)
			redis.ReplyWithError(context, "ERR item exists");
		else
			reserve(context, key, argv[1], &s);
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

/* ---- ADD, MADD ---- */

/* The arguments of a command on items. */
struct task {
	struct redis_string *name, **items;
	int n;
	bool many;     /* reply with an array */
	uint64_t time; /* of the command */
};

static uint64_t hash_of(const struct window *w, const struct redis_string *item)
{
	size_t len;
	const char *at = redis.StringPtrLen(item, &len);
	return window_hash(w, at, len);
}

/* Reply for each item, up to the first failure: 1 if the window did not have it. Items that it has
 * are added to the newest generation too, which is a change. */
static void add_items(struct redis_context *context, struct window *w, const struct task *t)
{
	uint64_t most = key_most_for(context), time = window_time(w, t->time);
	uint64_t now = window_clock();
	int taken = 0, err = 0;
	bool changed = false;
	if (t->many)
		redis.ReplyWithArray(context, -1); /* -1: the length is set later */
	while (taken < t->n && err >= 0) {
		uint64_t hash = hash_of(w, t->items[taken]);
		bool had = window_has(w, hash, now);
		err = window_add(w, hash, time, most);
		if (err < 0) {
			key_fail(context, err, full);
		} else {
			redis.ReplyWithBool(context, !had);
			changed |= err > 0;
			taken++;
		}
	}
	if (t->many)
		redis.ReplySetArrayLength(context, taken + (err < 0));
	window_note_clock(w, time, now);
	if (changed)
		redis.Replicate(context, t->many ? "WEIR.WINDOW.MADD" : "WEIR.WINDOW.ADD", "svcl",
		                t->name, t->items, (size_t)taken, "AT", (long long)time);
}

static int add(struct redis_context *context, struct task *t)
{
	struct redis_key *key;
	struct window *w;
	if (!key_open(context, &window_keys, t->name, REDIS_READ | REDIS_WRITE, &key, &w)) {
		if (w)
			add_items(context, w, t);
		else
			redis.ReplyWithError(context, "ERR not found");
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

int window_add_one(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct task t = { .n = 1 };
	if (!window_take_time(context, argv, &argc, &t.time))
		return REDIS_OK;
	if (argc != 3)
		return redis.WrongArity(context);
	t.name = argv[1];
	t.items = argv + 2;
	return add(context, &t);
}

int window_madd(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct task t = { .many = true };
	if (!window_take_time(context, argv, &argc, &t.time))
		return REDIS_OK;
	if (argc < 3)
		return redis.WrongArity(context);
	t.name = argv[1];
	t.items = argv + 2;
	t.n = argc - 2;
	return add(context, &t);
}

/* ---- EXISTS, MEXISTS ---- */

int window_exists(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct window *w;
	if (argc != 3)
		return redis.WrongArity(context);
	if (!key_open(context, &window_keys, argv[1], REDIS_READ, &key, &w))
		redis.ReplyWithBool(context,
		                    w && window_has(w, hash_of(w, argv[2]), window_clock()));
	redis.CloseKey(key);
	return REDIS_OK;
}

enum { AT_ONCE = 64 };

static void reply_some(struct redis_context *context, const struct window *w, uint64_t now,
                       struct redis_string **items, unsigned n)
{
	bool found[AT_ONCE] = { false };
	uint64_t hashes[AT_ONCE];
	for (unsigned i = 0; w && i < n; i++)
		hashes[i] = hash_of(w, items[i]);
	if (w)
		window_has_hashes(w, hashes, n, now, found);
	for (unsigned i = 0; i < n; i++)
		redis.ReplyWithBool(context, found[i]);
}

int window_mexists(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct window *w;
	if (argc < 3)
		return redis.WrongArity(context);
	if (!key_open(context, &window_keys, argv[1], REDIS_READ, &key, &w)) {
		uint64_t now = window_clock();
		redis.ReplyWithArray(context, argc - 2);
		for (int i = 2; i < argc; i += AT_ONCE)
			reply_some(context, w, now, argv + i,
			           argc - i < AT_ONCE ? (unsigned)(argc - i) : AT_ONCE);
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

/* ---- INFO ---- */

static void reply_number(struct redis_context *context, const char *title, long long n)
{
	redis.ReplyWithSimpleString(context, title);
	redis.ReplyWithLongLong(context, n);
}

static void reply_info(struct redis_context *context, const struct window *w)
{
	uint64_t now = window_clock();
	long long in_use = 0;
	char error[32];
	for (unsigned i = 0; i < w->n; i++)
		in_use += window_reads(w, i, now);
	redis.ReplyWithMap(context, 10);
	redis.ReplyWithSimpleString(context, "Error rate");
	int len = snprintf(error, sizeof error, "%.17g", w->error);
	redis.ReplyWithStringBuffer(context, error, (size_t)len);
	reply_number(context, "Capacity", (long long)w->capacity);
	reply_number(context, "Seconds", w->seconds);
	reply_number(context, "Generations", w->generations);
	redis.ReplyWithSimpleString(context, "Expansion rate");
	if (w->expansion)
		redis.ReplyWithLongLong(context, w->expansion);
	else
		redis.ReplyWithNull(context);
	reply_number(context, "Size", (long long)window_usage(w));
	reply_number(context, "Generations in use", in_use);
	reply_number(context, "Number of items in use", (long long)window_items(w, now));
	reply_number(context, "Age of last write", (long long)now - (long long)w->newest);
	reply_number(context, "Clock difference", (long long)w->ahead);
}

int window_info(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct window *w;
	if (argc != 2)
		return redis.WrongArity(context);
	if (!key_open(context, &window_keys, argv[1], REDIS_READ, &key, &w)) {
		if (w)
			reply_info(context, w);
		else
			redis.ReplyWithError(context, "ERR not found");
	}
	redis.CloseKey(key);
	return REDIS_OK;
}
