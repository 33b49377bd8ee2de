/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "abi.h"
#include "../../host/memory_limit.h"
#include "limit.h"

enum { STEP = 4 << 20 }; /* reading the limits takes 0.1 ms, so they are read once for 4 MiB */

double limit_fork_share = 0.1;
static uint64_t budget;
static char why[160];

/* Set by read_limits(). */
struct left {
	uint64_t bytes;
	const char *of;
};

static void lower(struct left *left, uint64_t bytes, const char *of)
{
	if (bytes < left->bytes)
		*left = (struct left){ bytes, of };
}

static uint64_t field(struct redis_server_info *info, const char *name)
{
	int failed = 0;
	uint64_t value = redis.ServerInfoGetFieldUnsigned(info, name, &failed);
	return failed ? 0 : value;
}

static struct left read_limits(void)
{
	struct left left = { UINT64_MAX, "" };
	struct redis_server_info *info = redis.GetServerInfo(NULL, "memory");
	uint64_t used = field(info, "used_memory"), most = field(info, "maxmemory");
	const char *policy = redis.ServerInfoGetFieldC(info, "maxmemory_policy");
	/* Any other policy makes room by eviction, so the server is always full. */
	bool evicts = policy && strcmp(policy, "noeviction") != 0;
	redis.FreeServerInfo(NULL, info);
	uint64_t fork = (uint64_t)((double)used * limit_fork_share), machine = memory_available("");
	if (most && evicts)
		lower(&left, most, "maxmemory");
	else if (most)
		lower(&left, most > used ? most - used : 0, "maxmemory");
	lower(&left, machine > fork ? machine - fork : 0, "the machine or its control group");
	return left;
}

bool limit_is_off(void)
{
	return redis.GetContextFlags(NULL) & (REDIS_IS_REPLICA | REDIS_LOADING);
}

bool limit_allows(size_t bytes)
{
	if (bytes <= budget) {
		budget -= bytes;
		return true;
	}
	why[0] = '\0';
	budget = STEP;
	if (limit_is_off())
		return true;
	struct left left = read_limits();
	budget = 0;
	if (left.bytes >= bytes) {
		budget = left.bytes - bytes < STEP ? left.bytes - bytes : STEP;
		return true;
	}
	snprintf(why, sizeof why, ": %llu bytes are left of %s", (unsigned long long)left.bytes,
	         left.of);
	return false;
}

const char *limit_why(void)
{
	return why;
}
