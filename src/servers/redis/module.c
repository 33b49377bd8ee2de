/* SPDX-License-Identifier: MIT
 * The entry point for Redis: loadmodule weir-redis.so, and its arguments. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "keys.h"
#include "limit.h"

/* Parse a number of bytes. As in redis.conf, the unit kb, mb or gb may follow the number. */
static int parse_bytes(const char *text, uint64_t *out)
{
	uint64_t n = 0;
	if (!isdigit((unsigned char)*text))
		return -1;
	for (; isdigit((unsigned char)*text); text++) {
		if (n > UINT64_MAX / 16 / 1024 / 1024 / 1024)
			return -1;
		n = n * 10 + (uint64_t)(*text - '0');
	}
	int shift = !*text                     ? 0
	            : !strcasecmp(text, "kb") ? 10
	            : !strcasecmp(text, "mb") ? 20
	            : !strcasecmp(text, "gb") ? 30
	                                      : -1;
	if (shift < 0)
		return -1;
	*out = n << shift;
	return 0;
}

/* Return: true if the argument is known and its value is valid. */
static bool take_argument(const struct redis_string *word, const struct redis_string *value)
{
	struct key_options *o = &key_options;
	const char *name = redis.StringPtrLen(word, NULL), *text = redis.StringPtrLen(value, NULL);
	if (!strcasecmp(name, "max-bytes"))
		return parse_bytes(text, &o->max_bytes) == 0;
	if (!strcasecmp(name, "ERROR_RATE"))
		return !redis.StringToDouble(value, &o->error) && o->error > 0 && o->error < 1;
	if (!strcasecmp(name, "INITIAL_SIZE"))
		return !key_number(value, 1, CHAIN_CAPACITY_MOST, &o->bf_capacity, "", "");
	if (!strcasecmp(name, "fork-share"))
		return !redis.StringToDouble(value, &limit_fork_share) && limit_fork_share >= 0 &&
		       limit_fork_share <= 1;
	if (!strcasecmp(name, "name")) /* chosen_name() has taken it */
		return !strcmp(text, "weir") || !strcmp(text, "bf");
	if (!strcasecmp(name, "CF_MAX_EXPANSIONS"))
		return !key_number(value, 1, CUCKOO_SUBS, &o->cf_expansions, "", "");
	bool *answer = !strcasecmp(name, "compat")             ? &o->compat
	               : !strcasecmp(name, "redisbloom-2.0.1") ? &o->server_hash
	                                                       : NULL;
	if (answer)
		*answer = !strcasecmp(text, "yes");
	return answer && (*answer || !strcasecmp(text, "no"));
}

static int parse_arguments(struct redis_context *context, struct redis_string **argv, int argc)
{
	for (int i = 0; i < argc; i += 2) {
		if (i + 1 < argc && take_argument(argv[i], argv[i + 1]))
			continue;
		redis.Log(context, "warning", "argument '%s %s' is refused: there are max-bytes "
		          "(bytes, kb, mb or gb), fork-share (0 to 1), name (weir or bf), "
		          "ERROR_RATE (above 0, below 1), INITIAL_SIZE (1 and more), "
		          "CF_MAX_EXPANSIONS (1 to %d), compat and redisbloom-2.0.1 (yes or no)",
		          redis.StringPtrLen(argv[i], NULL),
		          i + 1 < argc ? redis.StringPtrLen(argv[i + 1], NULL) : "", CUCKOO_SUBS);
		return REDIS_ERR;
	}
	return REDIS_OK;
}

enum { AS_REDISBLOOM = 20820 }; /* the version whose commands these are */

/* Redis takes the name once, before the module may log that an argument is refused. */
static const char *chosen_name(struct redis_string **argv, int argc)
{
	for (int i = 0; i + 1 < argc; i += 2)
		if (!strcasecmp(redis.StringPtrLen(argv[i], NULL), "name") &&
		    !strcmp(redis.StringPtrLen(argv[i + 1], NULL), "bf"))
			return "bf";
	return "weir";
}

__attribute__((visibility("default")))
int RedisModule_OnLoad(struct redis_context *context, struct redis_string **argv, int argc);

int RedisModule_OnLoad(struct redis_context *context, struct redis_string **argv, int argc)
{
	const char *lacks = redis_find(context);
	if (lacks) {
		fprintf(stderr, "weir-redis: this server has no RedisModule_%s, Redis 7.0 has\n",
		        lacks);
		return REDIS_ERR;
	}
	const char *name = chosen_name(argv, argc);
	redis.SetModuleAttribs(context, name, strcmp(name, "bf") ? 1 : AS_REDISBLOOM, 1);
	redis.SetModuleOptions(context, REDIS_IO_ERRORS);
	if (parse_arguments(context, argv, argc) || key_types_create(context) ||
	    window_type_create(context))
		return REDIS_ERR;
	return commands_create(context);
}
