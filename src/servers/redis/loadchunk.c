/* SPDX-License-Identifier: MIT
 * BF.LOADCHUNK and CF.LOADCHUNK. dump.c explains the format. */
#include <string.h>
#include "dump.h"

static const char bad_data[] = "ERR received bad data";

/* Each function up to load_chunk() returns NULL, or an error text of BF.LOADCHUNK. */
static const char *load_header(struct redis_context *context, const struct key_kind *kind,
                               struct redis_key *key, const unsigned char *data, size_t bytes)
{
	struct chain head = { .links = 0 }, *c;
	if (!dump_parse_header(kind, data, bytes, &head) ||
	    chain_create(&c, &head.settings, key_most_for(context), &key_memory))
		return bad_data;
	c->deleted = head.deleted;
	c->changes = head.changes;
	redis.ModuleTypeSetValue(key, kind->type, c);
	return NULL;
}

static const char *load_bits(const struct chain *c, struct chain_link *l, uint64_t at,
                             uint64_t items, const unsigned char *data, size_t bytes)
{
	unsigned char *bits = chain_bits(l) + at;
	if (bytes > l->bytes - at)
		return "ERR invalid chunk - Too big for current filter";
	if (chain_is_cuckoo(c)) {
		if (at % 8 || bytes % 8)
			return bad_data;
		l->items -= chain_fingerprints(bits, bytes);
		l->items += chain_fingerprints(data, bytes);
		memcpy(bits, data, bytes);
		return NULL;
	}
	if (items > l->capacity)
		return bad_data;
	/* Set bits and clear none, so that items added after the dump stay. A client may also send
	 * a chunk twice. */
	for (size_t k = 0; k < bytes; k++)
		bits[k] |= data[k];
	l->items = items > l->items ? items : l->items;
	return NULL;
}

/* Return: true if the iterator matches a chunk of @bytes bytes. */
static bool fits_iterator(const struct chain *c, uint64_t name, uint64_t iterator, uint64_t offset,
                          size_t bytes)
{
	if (chain_is_cuckoo(c))
		return iterator >> DUMP_PIECE_BITS == dump_mark(name);
	return iterator - 1 >= bytes && iterator - 1 - bytes == offset;
}

static const char *load_chunk(struct redis_context *context, struct chain *c, uint64_t iterator,
                              const unsigned char *data, size_t bytes)
{
	struct dump_header h = dump_header_of(c);
	struct dump_frame f;
	if (!dump_get_frame(data, bytes, &f) || f.name != h.name)
		return bad_data;
	data += DUMP_FRAME_BYTES;
	bytes -= DUMP_FRAME_BYTES;
	uint64_t offset = f.offset;
	size_t i = dump_find_link(c, &offset);
	if (!fits_iterator(c, h.name, iterator, f.offset, bytes) || (i == c->links && offset))
		return "ERR invalid offset - no link found";
	bool grown = i == c->links;
	if (grown && (!c->settings.expansion || chain_grow(c, key_most_for(context))))
		return bad_data;
	const char *wrong = load_bits(c, &c->link[i], offset, f.items, data, bytes);
	if (wrong && grown)
		chain_shrink(c);
	return wrong;
}

/* Return: the error text to send. For BF.LOADCHUNK this is @wrong. CF.LOADCHUNK has fewer texts,
 * and sends @wrong only for a chunk of a missing key.
 * @c: NULL if the key was missing. @first: the iterator is that of a header. */
static const char *error_for(const struct key_kind *kind, const char *wrong, const struct chain *c,
                             bool first)
{
	if (!kind->cuckoo || (!c && !first))
		return wrong;
	return !first ? "Couldn't load chunk!" : c ? "ERR item exists" : "Invalid header";
}

static int load_chunks(struct redis_context *context, const struct key_kind *kind,
                       struct redis_string **argv, int argc)
{
	struct redis_key *key;
	struct chain *c;
	uint64_t n;
	size_t bytes;
	if (argc != 4)
		return redis.WrongArity(context);
	const char *bad = kind->cuckoo ? "Invalid position" : "ERR Second argument must be numeric";
	if (key_number(argv[2], 1, INT64_MAX, &n, bad, bad))
		return redis.ReplyWithError(context, bad);
	const void *data = redis.StringPtrLen(argv[3], &bytes);
	bool first = (kind->cuckoo ? n & ((1u << DUMP_PIECE_BITS) - 1) : n) <= 1;
	if (!key_open(context, kind, argv[1], REDIS_READ | REDIS_WRITE, &key, &c)) {
		const char *wrong = !c && !first ? "ERR not found"
		                    : c ? load_chunk(context, c, n, data, bytes)
		                        : load_header(context, kind, key, data, bytes);
		if (wrong) {
			redis.ReplyWithError(context, error_for(kind, wrong, c, first));
		} else {
			redis.Replicate(context, kind->load_chunk, "v", argv + 1, (size_t)3);
			redis.ReplyWithSimpleString(context, "OK");
		}
	}
	redis.CloseKey(key);
	return REDIS_OK;
}

int bf_loadchunk(struct redis_context *context, struct redis_string **argv, int argc)
{
	return load_chunks(context, &bf_keys, argv, argc);
}

int cf_loadchunk(struct redis_context *context, struct redis_string **argv, int argc)
{
	return load_chunks(context, &cf_keys, argv, argc);
}
