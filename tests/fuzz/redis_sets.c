/* SPDX-License-Identifier: MIT
 * Stubs of the functions that only WEIR.LOAD and WEIR.PUBLISH call; a call aborts. These commands
 * need scripts, so tests/servers/redis/test_publish_kept.py runs them in a real redis-server. */
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

float fake_GetUsedMemoryRatio(void)
{
	return 0;
}
