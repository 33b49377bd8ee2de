/* SPDX-License-Identifier: MIT
 * The table of Redis's functions, which is filled when the module is loaded. */
#include "abi.h"

struct redis_api redis;

const char *redis_find(struct redis_context *context)
{
	int (*get)(const char *, void *) = *(int (**)(const char *, void *))(void *)context;
#define REDIS_GET(result, name, arguments) \
	if (get("RedisModule_" #name, (void *)&redis.name) != REDIS_OK) \
		return #name;
	REDIS_FUNCTIONS(REDIS_GET)
#undef REDIS_GET
#define REDIS_TRY(result, name, arguments) \
	if (get("RedisModule_" #name, (void *)&redis.name) != REDIS_OK) \
		redis.name = NULL;
	REDIS_OPTIONAL(REDIS_TRY)
#undef REDIS_TRY
	return NULL;
}
