/* SPDX-License-Identifier: MIT
 * BF.SCANDUMP and BF.LOADCHUNK. A dump is a header, with iterator 1, then chunks of the links' bits
 * in turn, none across two links; a chunk's iterator is 1 + the offset at which it ends. Both
 * depend on nothing but the chain, so that a replica goes on with a dump that its master began.
 *
 * Bits only go from 0 to 1: what was added before the dump began is in it, whatever comes
 * meanwhile. A link is made when its first chunk comes, so that a header makes one alone. */
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "bf.h"

enum { FIELDS = 6, CHUNK_FIELDS = 4, CHUNK_MOST = 16 << 20 };
enum { HEADER_BYTES = FIELDS * 8, FRAME_BYTES = CHUNK_FIELDS * 8 };
static const uint64_t MAGIC = UINT64_C(0x3146425249455701);

/* Little-endian, whatever the machine is. */
static void put(unsigned char *to, const uint64_t *from, int n)
{
	for (int i = 0; i < n * 8; i++)
		to[i] = (unsigned char)(from[i / 8] >> i % 8 * 8);
}

static void get(uint64_t *to, const unsigned char *from, int n)
{
	memset(to, 0, (size_t)n * 8);
	for (int i = 0; i < n * 8; i++)
		to[i / 8] |= (uint64_t)from[i] << i % 8 * 8;
}

/* Its last field is the checksum, which also names the chain in each chunk. */
static uint64_t header_of(const struct chain_settings *s, unsigned char *out)
{
	uint64_t f[FIELDS] = { MAGIC, 0, s->capacity, s->expansion, s->seed };
	memcpy(&f[1], &s->error, sizeof s->error);
	put(out, f, FIELDS - 1);
	f[FIELDS - 1] = XXH3_64bits(out, HEADER_BYTES - 8);
	put(out, f, FIELDS);
	return f[FIELDS - 1];
}

static uint64_t sum_of(const uint64_t *frame, const void *bits, size_t bytes)
{
	unsigned char first[FRAME_BYTES - 8];
	put(first, frame, CHUNK_FIELDS - 1);
	return XXH3_64bits_withSeed(bits, bytes, XXH3_64bits(first, sizeof first));
}

/* Return: the number of the link with byte @offset of the chain, which becomes the link's own. */
static size_t find_link(const struct chain *c, uint64_t *offset)
{
	size_t i = 0;
	while (i < c->links && *offset >= c->link[i].bytes)
		*offset -= c->link[i++].bytes;
	return i;
}

/* ---- SCANDUMP ---- */

static void reply(struct redis_context *context, uint64_t next, const void *data, size_t bytes)
{
	redis.ReplyWithArray(context, 2);
	redis.ReplyWithLongLong(context, (long long)next);
	redis.ReplyWithStringBuffer(context, data, bytes);
}

static void dump(struct redis_context *context, const struct chain *c, uint64_t iterator)
{
	unsigned char header[HEADER_BYTES];
	uint64_t name = header_of(&c->settings, header);
	if (!iterator) {
		reply(context, 1, header, sizeof header);
		return;
	}
	uint64_t offset = iterator - 1;
	size_t i = find_link(c, &offset);
	if (i == c->links) {
		reply(context, 0, "", 0);
		return;
	}
	const struct chain_link *l = &c->link[i];
	uint64_t bytes = l->bytes - offset;
	if (bytes > CHUNK_MOST - FRAME_BYTES)
		bytes = CHUNK_MOST - FRAME_BYTES;
	unsigned char *chunk = bf_memory.get(FRAME_BYTES + bytes);
	if (!chunk) {
		redis.ReplyWithError(context, "ERR no memory for a chunk of the dump");
		return;
	}
	uint64_t f[CHUNK_FIELDS] = { name, iterator - 1, l->items };
	memcpy(chunk + FRAME_BYTES, chain_bits(l) + offset, bytes);
	f[CHUNK_FIELDS - 1] = sum_of(f, chunk + FRAME_BYTES, bytes);
	put(chunk, f, CHUNK_FIELDS);
	reply(context, iterator + bytes, chunk, FRAME_BYTES + bytes);
	bf_memory.put(chunk);
}

int bf_scandump(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	long long n;
	if (argc != 3)
		return redis.WrongArity(context);
	if (redis.StringToLongLong(argv[2], &n) || n < 0)
		return redis.ReplyWithError(context, "Second argument must be numeric");
	if (!bf_open(context, argv[1], REDIS_READ, &key, &c)) {
		if (c)
			dump(context, c, (uint64_t)n);
		else
			redis.ReplyWithError(context, "ERR not found");
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

/* ---- LOADCHUNK ---- */

static const char bad_data[] = "ERR received bad data";

/* Return: NULL, or the error; so does the next. */
static const char *load_header(struct redis_context *context, struct redis_key *key,
                               const unsigned char *data, size_t bytes)
{
	unsigned char again[HEADER_BYTES];
	uint64_t f[FIELDS];
	struct chain *c;
	if (bytes != HEADER_BYTES)
		return bad_data;
	get(f, data, FIELDS);
	struct chain_settings s = { 0, f[2], f[3], f[4] };
	memcpy(&s.error, &f[1], sizeof s.error);
	header_of(&s, again);
	if (memcmp(again, data, bytes) ||
	    chain_create(&c, &s, bf_most_for(context), &bf_memory))
		return bad_data;
	redis.ModuleTypeSetValue(key, bf_type, c);
	return NULL;
}

static const char *load_chunk(struct redis_context *context, struct chain *c, uint64_t iterator,
                              const unsigned char *data, size_t bytes)
{
	unsigned char header[HEADER_BYTES];
	uint64_t f[CHUNK_FIELDS];
	if (bytes <= FRAME_BYTES)
		return bad_data;
	get(f, data, CHUNK_FIELDS);
	data += FRAME_BYTES;
	bytes -= FRAME_BYTES;
	if (f[0] != header_of(&c->settings, header) || f[3] != sum_of(f, data, bytes))
		return bad_data;
	uint64_t offset = f[1];
	size_t i = find_link(c, &offset);
	if (iterator - 1 < bytes || iterator - 1 - bytes != f[1] || (i == c->links && offset))
		return "ERR invalid offset - no link found";
	bool grown = i == c->links;
	if (grown && (!c->settings.expansion || chain_grow(c, bf_most_for(context))))
		return bad_data;
	struct chain_link *l = &c->link[i];
	const char *wrong = bytes > l->bytes - offset
	                            ? "ERR invalid chunk - Too big for current filter"
	                    : f[2] > l->capacity ? bad_data
	                                         : NULL;
	if (wrong) {
		if (grown)
			chain_shrink(c);
		return wrong;
	}
	/* Bits are added, so that what came in between, or a chunk twice, takes none away. */
	unsigned char *bits = chain_bits(l) + offset;
	for (size_t k = 0; k < bytes; k++)
		bits[k] |= data[k];
	l->items = f[2] > l->items ? f[2] : l->items;
	return NULL;
}

int bf_loadchunk(struct redis_context *context, struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	long long n;
	size_t bytes;
	if (argc != 4)
		return redis.WrongArity(context);
	if (redis.StringToLongLong(argv[2], &n) || n < 1)
		return redis.ReplyWithError(context, "Second argument must be numeric");
	const void *data = redis.StringPtrLen(argv[3], &bytes);
	if (!bf_open(context, argv[1], REDIS_READ | REDIS_WRITE, &key, &c)) {
		const char *wrong = !c && n > 1 ? "ERR not found"
		                    : c         ? load_chunk(context, c, (uint64_t)n, data, bytes)
		                                : load_header(context, key, data, bytes);
		if (wrong) {
			redis.ReplyWithError(context, wrong);
		} else {
			redis.Replicate(context, "BF.LOADCHUNK", "v", argv + 1, (size_t)3);
			redis.ReplyWithSimpleString(context, "OK");
		}
	}
	redis.CloseKey(key);
	return REDIS_OK;
}
