/* SPDX-License-Identifier: MIT
 * Stubs of functions that are not called here; a call aborts. Only WEIR.LOAD and WEIR.PUBLISH call
 * some of them. These commands need scripts, so tests/servers/redis/test_publish_kept.py runs them
 * in a real redis-server. The others read the server's memory limits and compute a digest. */
#include "fuzz_image.h"
#include "redis_server.h"

struct redis_string *fake_CreateString(struct redis_context *c, const char *text, size_t len)
{
	MUST(!c && !text && !len);
	return NULL;
}

void fake_FreeString(struct redis_context *c, struct redis_string *s)
{
	MUST(!c && !s);
}

struct redis_reply *fake_Call(struct redis_context *c, const char *name, const char *format, ...)
{
	MUST(!c && !name && !format);
	return NULL;
}

const char *fake_CallReplyProto(struct redis_reply *reply, size_t *len)
{
	MUST(!reply && !len);
	return NULL;
}

void fake_FreeCallReply(struct redis_reply *reply)
{
	MUST(!reply);
}

struct redis_server_info *fake_GetServerInfo(struct redis_context *c, const char *section)
{
	MUST(c && !section);
	return NULL;
}

void fake_FreeServerInfo(struct redis_context *c, struct redis_server_info *info)
{
	MUST(c && !info);
}

const char *fake_ServerInfoGetFieldC(struct redis_server_info *info, const char *name)
{
	MUST(!info && !name);
	return NULL;
}

unsigned long long fake_ServerInfoGetFieldUnsigned(struct redis_server_info *info,
                                                   const char *field, int *failed)
{
	MUST(!info && !field && !failed);
	return 0;
}

void fake_DigestAddStringBuffer(void *digest, const char *at, size_t bytes)
{
	MUST(!digest && !at && !bytes);
}

void fake_DigestEndSequence(void *digest)
{
	MUST(!digest);
}

float fake_GetUsedMemoryRatio(void)
{
	return 0;
}
