/* SPDX-License-Identifier: MIT
 * What WEIR.LOAD and WEIR.PUBLISH alone call. They are tried in a redis-server, whose scripts they
 * need (tests/servers/redis/test_publish_kept.py); here nothing of it may be reached. */
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

size_t fake_ValueLength(struct redis_key *key)
{
	MUST(!key);
	return 0;
}

char *fake_StringDMA(struct redis_key *key, size_t *len, int mode)
{
	MUST(!key && !len && !mode);
	return NULL;
}

struct redis_reply *fake_Call(struct redis_context *c, const char *name, const char *format, ...)
{
	MUST(!c && !name && !format);
	return NULL;
}

int fake_CallReplyType(struct redis_reply *reply)
{
	MUST(!reply);
	return REDIS_REPLY_NULL;
}

long long fake_CallReplyInteger(struct redis_reply *reply)
{
	MUST(!reply);
	return 0;
}

size_t fake_CallReplyLength(struct redis_reply *reply)
{
	MUST(!reply);
	return 0;
}

struct redis_reply *fake_CallReplyArrayElement(struct redis_reply *reply, size_t i)
{
	MUST(!reply && !i);
	return NULL;
}

const char *fake_CallReplyStringPtr(struct redis_reply *reply, size_t *len)
{
	MUST(!reply && !len);
	return NULL;
}

void fake_FreeCallReply(struct redis_reply *reply)
{
	MUST(!reply);
}

long long fake_Milliseconds(void)
{
	return 0;
}

float fake_GetUsedMemoryRatio(void)
{
	return 0;
}
