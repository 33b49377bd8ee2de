/* SPDX-License-Identifier: MIT
 * The commands, and what COMMAND INFO, COMMAND DOCS and ACL CAT tell of them. */
#include <stdio.h>
#include <string.h>
#include "keys.h"

/* @arity: words with the command's name; -n: at least n. The server refuses other numbers.
 * @categories: for ACL, beside bloom and cuckoo; fast if the time does not depend on the size of
 * the key. */
static const struct command {
	const char *name;
	redis_command *function;
	const char *flags;
	int arity;
	const char *categories, *summary, *complexity;
} commands[] = {
#define WRITE "write deny-oom"
#define READ "readonly fast"
#define ITEM "O(1)"
#define ITEMS "O(N) for N items"
#define BYTES "O(N) for N bytes of bits"
	{ "bf.reserve", bf_reserve, WRITE, -4, "write slow",
	  "Makes a Bloom filter of an error rate and a capacity", BYTES },
	{ "bf.add", bf_add, WRITE, 3, "write fast",
	  "Adds an item to a Bloom filter, which is made if missing", ITEM },
	{ "bf.madd", bf_madd, WRITE, -3, "write fast",
	  "Adds items to a Bloom filter, which is made if missing", ITEMS },
	{ "bf.insert", bf_insert, WRITE, -4, "write fast",
	  "Adds items to a Bloom filter, which is made by the options if missing", ITEMS },
	{ "bf.exists", bf_exists, READ, 3, "read fast",
	  "Tells whether a Bloom filter may have an item", ITEM },
	{ "bf.mexists", bf_mexists, READ, -3, "read fast",
	  "Tells which of the items a Bloom filter may have", ITEMS },
	{ "bf.info", bf_info, READ, -2, "read fast", "Describes a Bloom filter", ITEM },
	{ "bf.card", bf_card, READ, 2, "read fast",
	  "Returns how many items were added to a Bloom filter", ITEM },
	{ "bf.debug", bf_debug, READ, 2, "read fast", "Describes each link of a Bloom filter",
	  ITEM },
	{ "bf.scandump", bf_scandump, READ, 3, "read slow",
	  "Returns a piece of a Bloom filter's dump", BYTES },
	{ "bf.loadchunk", bf_loadchunk, WRITE, 4, "write slow",
	  "Loads a piece of a Bloom filter's dump", BYTES },
	{ "cf.reserve", cf_reserve, WRITE, -3, "write slow",
	  "Makes a cuckoo filter of a capacity", BYTES },
	{ "cf.add", cf_add, WRITE, 3, "write fast",
	  "Adds an item to a cuckoo filter, which is made if missing", ITEM },
	{ "cf.addnx", cf_addnx, WRITE, 3, "write fast",
	  "Adds an item to a cuckoo filter unless the filter may have it", ITEM },
	{ "cf.insert", cf_insert, WRITE, -4, "write fast",
	  "Adds items to a cuckoo filter, which is made by the options if missing", ITEMS },
	{ "cf.insertnx", cf_insertnx, WRITE, -4, "write fast",
	  "Adds the items that a cuckoo filter lacks", ITEMS },
	{ "cf.del", cf_del, "write fast", 3, "write fast",
	  "Removes an added item from a cuckoo filter", ITEM },
	{ "cf.compact", cf_compact, "write fast", 2, "write slow",
	  "Moves fingerprints of a cuckoo filter into its older sub filters", BYTES },
	{ "cf.exists", cf_exists, READ, 3, "read fast",
	  "Tells whether a cuckoo filter may have an item", ITEM },
	{ "cf.mexists", cf_mexists, READ, -3, "read fast",
	  "Tells which of the items a cuckoo filter may have", ITEMS },
	{ "cf.count", cf_count, READ, 3, "read fast",
	  "Returns how often a cuckoo filter may have an item", ITEM },
	{ "cf.info", cf_info, READ, 2, "read fast", "Describes a cuckoo filter", ITEM },
	{ "cf.debug", cf_debug, READ, 2, "read fast",
	  "Describes each sub filter of a cuckoo filter", ITEM },
	{ "cf.scandump", cf_scandump, READ, 3, "read slow",
	  "Returns a piece of a cuckoo filter's dump", BYTES },
	{ "cf.loadchunk", cf_loadchunk, WRITE, 4, "write slow",
	  "Loads a piece of a cuckoo filter's dump", BYTES },
	{ "weir.window.reserve", window_reserve, WRITE, -5, "write slow",
	  "Makes a window: a set whose items expire", BYTES },
	/* A master's ADD has two words more, its time. */
	{ "weir.window.add", window_add_one, WRITE, -3, "write fast", "Adds an item to a window",
	  ITEM },
	{ "weir.window.madd", window_madd, WRITE, -3, "write fast", "Adds items to a window",
	  ITEMS },
	{ "weir.window.exists", window_exists, READ, 3, "read fast",
	  "Tells whether a window may have seen an item lately", ITEM },
	{ "weir.window.mexists", window_mexists, READ, -3, "read fast",
	  "Tells which of the items a window may have seen lately", ITEMS },
	{ "weir.window.info", window_info, READ, 2, "read fast", "Describes a window", ITEM },
	/* Replicas and files get these four for a new key. */
	{ "weir.window.make", window_make_key, "write admin", -5, "write admin dangerous slow",
	  "Makes a window with its master's settings", BYTES },
	{ "weir.window.load", window_load_part, "write admin", 6, "write admin dangerous slow",
	  "Loads a piece of a window", BYTES },
	{ "weir.bfmake", bf_make, "write admin", -3, "write admin dangerous slow",
	  "Makes a Bloom filter with its master's seed", BYTES },
	{ "weir.cfmake", cf_make, "write admin", -7, "write admin dangerous slow",
	  "Makes a cuckoo filter with its master's seed", BYTES },
	/* These two call scripts, which Redis forbids inside a script. */
	{ "weir.publish", weir_publish, WRITE " deny-script", 4, "write slow",
	  "Publishes a Bloom filter as a set of many machines", BYTES },
	{ "weir.load", weir_load_set, WRITE " deny-script", 4, "write slow",
	  "Loads a set of many machines into a Bloom filter", BYTES },
};

/* Set arity, texts and, for a read, the key's flags: without them Redis takes it for a write. */
static int tell(struct redis_command_handle *handle, const struct command *c)
{
	struct redis_key_spec specs[2] = {
		{ .flags = REDIS_KEY_READ, .begin_type = REDIS_BEGIN_INDEX, .begin.index = 1,
		  .find_type = REDIS_FIND_RANGE, .find.range = { 0, 1, 0 } },
	};
	const struct redis_info_version version = {
		.version = 1, .history_bytes = 2 * sizeof(char *),
		.key_spec_bytes = sizeof *specs,
	};
	const struct redis_command_info info = {
		.version = &version, .summary = c->summary, .complexity = c->complexity,
		.arity = c->arity,
		.key_specs = !strncmp(c->flags, "readonly", 8) ? specs : NULL,
	};
	return redis.SetCommandInfo(handle, &info);
}

/* Return: RedisBloom's category of a command after a space, or "". */
static const char *category(const char *name)
{
	return !strncmp(name, "bf.", 3) ? " bloom" : !strncmp(name, "cf.", 3) ? " cuckoo" : "";
}

static int categorize(struct redis_command_handle *handle, const struct command *c, bool own)
{
	char words[64];
	snprintf(words, sizeof words, "%s%s", c->categories, own ? category(c->name) : "");
	return redis.SetCommandACLCategories(handle, words);
}

int commands_create(struct redis_context *context)
{
	/* Redis 7.0 has neither function, 7.2 lacks AddACLCategory. */
	bool own = redis.AddACLCategory && !redis.AddACLCategory(context, "bloom") &&
	           !redis.AddACLCategory(context, "cuckoo");
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		const struct command *c = &commands[i];
		if (redis.CreateCommand(context, c->name, c->function, c->flags, 1, 1, 1))
			return REDIS_ERR;
		struct redis_command_handle *handle = redis.GetCommand(context, c->name);
		if (!handle || tell(handle, c) ||
		    (redis.SetCommandACLCategories && categorize(handle, c, own)))
			return REDIS_ERR;
	}
	return REDIS_OK;
}
