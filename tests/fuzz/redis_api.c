/* SPDX-License-Identifier: MIT
 * The stand-in for redis-server: memory, keys, arguments and replies. */
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include "fuzz_image.h"
#include "redis_server.h"

/* The largest allocation that succeeds. It is larger than the module's setting max-bytes, and
 * smaller than the memory of a machine that runs this test. */
enum { MOST_MEMORY = 64 << 20 };

/* ---- memory, keys, arguments ---- */

void *fake_TryAlloc(size_t bytes)
{
	return bytes > MOST_MEMORY ? NULL : malloc(bytes);
}

void fake_Free(void *memory)
{
	free(memory);
}

long long server_clock = 1000000000000;

long long fake_Milliseconds(void)
{
	return server_clock;
}

void fake_GetRandomBytes(unsigned char *out, size_t bytes)
{
	memset(out, 7, bytes);
}

size_t fake_MallocSize(void *memory)
{
	return malloc_usable_size(memory);
}

/* Without a context the module asks about the server, which is as if it loaded a file. So the
 * module does not read the limits of the machine. */
int fake_GetContextFlags(struct redis_context *c)
{
	return c ? server_flags : REDIS_LOADING;
}

struct redis_key *fake_OpenKey(struct redis_context *c, struct redis_string *name, int mode)
{
	const unsigned i = name->bytes == 1 ? *(const unsigned char *)name->at - 'a' : SERVER_KEYS;
	MUST(c && mode & REDIS_READ && i < SERVER_KEYS);
	return server_keys[i].value || mode & REDIS_WRITE ? &server_keys[i] : NULL;
}

void fake_CloseKey(struct redis_key *key)
{
	(void)key;
}

int fake_KeyType(struct redis_key *key)
{
	return key->value ? 6 : REDIS_EMPTY;
}

struct redis_type *fake_ModuleTypeGetType(struct redis_key *key)
{
	return key->type;
}

void *fake_ModuleTypeGetValue(struct redis_key *key)
{
	return key->value;
}

int fake_ModuleTypeSetValue(struct redis_key *key, struct redis_type *type, void *value)
{
	MUST(!key->value && value);
	*key = (struct redis_key){ type, value };
	return REDIS_OK;
}

const char *fake_StringPtrLen(const struct redis_string *s, size_t *bytes)
{
	if (bytes)
		*bytes = s->bytes;
	return s->at;
}

int fake_StringToLongLong(const struct redis_string *s, long long *out)
{
	char *end;
	errno = 0;
	*out = strtoll(s->at, &end, 10);
	return errno || end == s->at || *end ? REDIS_ERR : REDIS_OK;
}

int fake_StringToDouble(const struct redis_string *s, double *out)
{
	char *end;
	*out = strtod(s->at, &end);
	return end == s->at || *end ? REDIS_ERR : REDIS_OK;
}

/* ---- replies ---- */

static int add_reply(struct redis_context *c)
{
	MUST(c);
	server_reply.replies++;
	return REDIS_OK;
}

int fake_WrongArity(struct redis_context *c)
{
	server_reply.errors++;
	return add_reply(c);
}

int fake_ReplyWithError(struct redis_context *c, const char *text)
{
	MUST(strlen(text) > 5);
	server_reply.errors++;
	return add_reply(c);
}

int fake_ReplyWithSimpleString(struct redis_context *c, const char *text)
{
	MUST(*text);
	return add_reply(c);
}

int fake_ReplyWithStringBuffer(struct redis_context *c, const char *at, size_t bytes)
{
	free(server_reply.string);
	server_reply.string = malloc(bytes + 1);
	MUST(server_reply.string);
	memcpy(server_reply.string, at, bytes);
	server_reply.bytes = bytes;
	return add_reply(c);
}

int fake_ReplyWithLongLong(struct redis_context *c, long long number)
{
	MUST(server_reply.count < SERVER_WORDS);
	server_reply.numbers[server_reply.count++] = number;
	return add_reply(c);
}

int fake_ReplyWithBool(struct redis_context *c, int number)
{
	return fake_ReplyWithLongLong(c, number);
}

int fake_ReplyWithNull(struct redis_context *c)
{
	return add_reply(c);
}

int fake_ReplyWithArray(struct redis_context *c, long n)
{
	MUST(n >= -1);
	return add_reply(c);
}

int fake_ReplyWithMap(struct redis_context *c, long n)
{
	return fake_ReplyWithArray(c, n);
}

void fake_ReplySetArrayLength(struct redis_context *c, long n)
{
	MUST(c && n >= 0);
}

int fake_ReplicateVerbatim(struct redis_context *c)
{
	MUST(c);
	return REDIS_OK;
}

int fake_Replicate(struct redis_context *c, const char *name, const char *format, ...)
{
	MUST(c && *name && *format);
	return REDIS_OK;
}
