/* SPDX-License-Identifier: MIT
 * BF.SCANDUMP and CF.SCANDUMP. dump.c explains the format. */
#include <string.h>
#include "dump.h"

static void reply(struct redis_context *context, uint64_t next, const void *data, size_t bytes)
{
	redis.ReplyWithArray(context, 2);
	redis.ReplyWithLongLong(context, (long long)next);
	redis.ReplyWithStringBuffer(context, data, bytes);
}

static void reply_end(struct redis_context *context, const struct dump_key *k)
{
	if (k->chain) {
		reply(context, 0, "", 0);
		return;
	}
	redis.ReplyWithArray(context, 2);
	redis.ReplyWithLongLong(context, 0);
	redis.ReplyWithNull(context);
}

/* Send the chunk from byte @at of array @i, which is byte @offset of all arrays. */
static void reply_chunk(struct redis_context *context, const struct dump_key *k, unsigned i,
                        uint64_t at, uint64_t offset, uint64_t name)
{
	uint64_t bytes;
	const unsigned char *bits = dump_array(k, i, &bytes) + at;
	bytes -= at;
	if (bytes > DUMP_BITS_MOST)
		bytes = DUMP_BITS_MOST;
	uint64_t next = dump_iterator(k, name, offset + bytes);
	if (dump_is_raw(k)) {
		reply(context, next, bits, bytes);
		return;
	}
	/* Not key_memory: a read goes on if maxmemory is reached. */
	unsigned char *chunk = redis.TryAlloc(DUMP_FRAME_BYTES + bytes);
	if (!chunk) {
		redis.ReplyWithError(context, "ERR no memory for a chunk of the dump");
		return;
	}
	memcpy(chunk + DUMP_FRAME_BYTES, bits, bytes);
	const struct dump_frame f = { name, offset, k->chain ? k->link[i]->items : 0 };
	dump_put_frame(chunk, &f, chunk + DUMP_FRAME_BYTES, bytes);
	reply(context, next, chunk, DUMP_FRAME_BYTES + bytes);
	redis.Free(chunk);
}

static void dump(struct redis_context *context, const struct dump_key *k, uint64_t iterator)
{
	unsigned char header[DUMP_HEADER_MOST];
	uint64_t offset, name;
	size_t bytes = dump_put_header(k, header, &name);
	if (k->cuckoo && !k->cuckoo->items) { /* RedisBloom dumps no empty filter */
		reply_end(context, k);
		return;
	}
	if (!iterator) {
		reply(context, dump_iterator(k, name, 0), header, bytes);
		return;
	}
	if (!dump_offset(k, name, iterator, &offset)) {
		redis.ReplyWithError(context, "ERR the filter has changed since the dump began: "
		                              "begin again with iterator 0");
		return;
	}
	uint64_t at = offset;
	unsigned i = dump_find(k, &at);
	if (i == k->n)
		reply_end(context, k);
	else
		reply_chunk(context, k, i, at, offset, name);
}

static int scan_dump(struct redis_context *context, const struct key_kind *kind,
                     struct redis_string **argv, int argc)
{
	struct redis_key *key;
	void *value;
	long long n;
	if (argc != 3)
		return redis.WrongArity(context);
	if (redis.StringToLongLong(argv[2], &n) || (n < 0 && kind->cuckoo))
		return redis.ReplyWithError(context, kind->cuckoo ? "Invalid position"
		                                     : "Second argument must be numeric");
	if (!key_open(context, kind, argv[1], REDIS_READ, &key, &value)) {
		struct dump_key k;
		if (value)
			k = kind->cuckoo ? dump_of_cuckoo(value) : dump_of_chain(value);
		if (!value)
			redis.ReplyWithError(context, "ERR not found");
		else if (n < 0)
			reply_end(context, &k);
		else
			dump(context, &k, (uint64_t)n);
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

int bf_scandump(struct redis_context *context, struct redis_string **argv, int argc)
{
	return scan_dump(context, &bf_keys, argv, argc);
}

int cf_scandump(struct redis_context *context, struct redis_string **argv, int argc)
{
	return scan_dump(context, &cf_keys, argv, argc);
}
