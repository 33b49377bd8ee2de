/* SPDX-License-Identifier: MIT
 * The entry point for Redis: loadmodule weir-redis.so [max-bytes N]. */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>
#include "keys.h"

static const struct {
	const char *name;
	redis_command *function;
	const char *flags;
} commands[] = {
	{ "BF.RESERVE", bf_reserve, "write deny-oom fast" },
	{ "BF.ADD", bf_add, "write deny-oom fast" },
	{ "BF.MADD", bf_madd, "write deny-oom" },
	{ "BF.INSERT", bf_insert, "write deny-oom" },
	{ "BF.EXISTS", bf_exists, "readonly fast" },
	{ "BF.MEXISTS", bf_mexists, "readonly" },
	{ "BF.INFO", bf_info, "readonly fast" },
	{ "BF.CARD", bf_card, "readonly fast" },
	{ "BF.SCANDUMP", bf_scandump, "readonly" },
	{ "BF.LOADCHUNK", bf_loadchunk, "write deny-oom" },
	{ "BF.WEIRLINK", bf_link, "write admin" },
	{ "CF.RESERVE", cf_reserve, "write deny-oom fast" },
	{ "CF.ADD", cf_add, "write deny-oom fast" },
	{ "CF.ADDNX", cf_addnx, "write deny-oom fast" },
	{ "CF.INSERT", cf_insert, "write deny-oom" },
	{ "CF.INSERTNX", cf_insertnx, "write deny-oom" },
	{ "CF.DEL", cf_del, "write fast" },
	{ "CF.EXISTS", cf_exists, "readonly fast" },
	{ "CF.MEXISTS", cf_mexists, "readonly" },
	{ "CF.COUNT", cf_count, "readonly fast" },
	{ "CF.INFO", cf_info, "readonly fast" },
	{ "CF.SCANDUMP", cf_scandump, "readonly" },
	{ "CF.LOADCHUNK", cf_loadchunk, "write deny-oom" },
	{ "CF.WEIRLINK", cf_link, "write admin" },
	/* WEIR.PUBLISH and WEIR.LOAD call scripts, which Redis forbids inside a script. */
	{ "WEIR.PUBLISH", weir_publish, "write deny-oom deny-script" },
	{ "WEIR.LOAD", weir_load_set, "write deny-oom deny-script" },
};

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

static int parse_arguments(struct redis_context *context, struct redis_string **argv, int argc)
{
	for (int i = 0; i < argc; i += 2) {
		const char *word = redis.StringPtrLen(argv[i], NULL);
		const char *value = i + 1 < argc ? redis.StringPtrLen(argv[i + 1], NULL) : "";
		if (strcasecmp(word, "max-bytes") || parse_bytes(value, &key_most)) {
			redis.Log(context, "warning", "argument '%s %s' is refused: there is "
			                              "max-bytes, with bytes, kb, mb or gb",
			          word, value);
			return REDIS_ERR;
		}
	}
	return REDIS_OK;
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
	redis.SetModuleAttribs(context, "weir", 1, 1);
	redis.SetModuleOptions(context, REDIS_IO_ERRORS);
	if (parse_arguments(context, argv, argc) || key_types_create(context))
		return REDIS_ERR;
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (redis.CreateCommand(context, commands[i].name, commands[i].function,
		                        commands[i].flags, 1, 1, 1))
			return REDIS_ERR;
	return REDIS_OK;
}
