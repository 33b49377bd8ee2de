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

static void reply_end(struct redis_context *context, const struct chain *c)
{
	if (!chain_is_cuckoo(c)) {
		reply(context, 0, "", 0);
		return;
	}
	redis.ReplyWithArray(context, 2);
	redis.ReplyWithLongLong(context, 0);
	redis.ReplyWithNull(context);
}

/* Send the chunk from byte @at of the link, which is byte @offset of the chain. */
static void reply_chunk(struct redis_context *context, const struct chain *c,
                        const struct chain_link *l, uint64_t at, uint64_t offset, uint64_t name)
{
	uint64_t bytes = l->bytes - at;
	if (bytes > DUMP_BITS_MOST)
		bytes = DUMP_BITS_MOST;
	unsigned char *chunk = key_memory.get(DUMP_FRAME_BYTES + bytes);
	if (!chunk) {
		redis.ReplyWithError(context, "ERR no memory for a chunk of the dump");
		return;
	}
	memcpy(chunk + DUMP_FRAME_BYTES, chain_bits(l) + at, bytes);
	dump_put_frame(chunk, &(struct dump_frame){ name, offset, l->items },
	               chunk + DUMP_FRAME_BYTES, bytes);
	reply(context, dump_iterator(c, name, offset + bytes), chunk, DUMP_FRAME_BYTES + bytes);
	key_memory.put(chunk);
}

static void dump(struct redis_context *context, const struct chain *c, uint64_t iterator)
{
	struct dump_header h = dump_header_of(c);
	uint64_t offset;
	if (!iterator) {
		reply(context, dump_iterator(c, h.name, 0), h.text, h.bytes);
		return;
	}
	if (!dump_offset(c, h.name, iterator, &offset)) {
		redis.ReplyWithError(context, "ERR the filter has changed since the dump began: "
		                              "begin again with iterator 0");
		return;
	}
	uint64_t at = offset;
	size_t i = dump_find_link(c, &at);
	if (i == c->links)
		reply_end(context, c);
	else
		reply_chunk(context, c, &c->link[i], at, offset, h.name);
}

static int scan_dump(struct redis_context *context, const struct key_kind *kind,
                     struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	uint64_t n;
	if (argc != 3)
		return redis.WrongArity(context);
	const char *bad = kind->cuckoo ? "Invalid position" : "Second argument must be numeric";
	if (key_number(argv[2], 0, INT64_MAX, &n, bad, bad))
		return redis.ReplyWithError(context, bad);
	if (!key_open(context, kind, argv[1], REDIS_READ, &key, &c)) {
		if (c)
			dump(context, c, n);
		else
			redis.ReplyWithError(context, "ERR not found");
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
