/* SPDX-License-Identifier: MIT
 * BF.LOADCHUNK and CF.LOADCHUNK. dump.c explains the formats. */
#include <errno.h>
#include <string.h>
#include "dump.h"

static const char bad_data[] = "ERR received bad data", bad_offset[] =
	"ERR invalid offset - no link found", too_big[] =
	"ERR invalid chunk - Too big for current filter", not_loaded[] = "Couldn't load chunk!";

/* ---- headers ---- */

/* Return: NULL, or the error. */
static const char *load_header(struct redis_context *context, const struct key_kind *kind,
                               struct redis_key *key, const unsigned char *data, size_t bytes)
{
	uint64_t most = key_most_for(context);
	struct chain *chain;
	struct cuckoo *cuckoo;
	int err = kind->cuckoo ? dump_make_cuckoo(data, bytes, most, &cuckoo)
	                       : dump_make_chain(data, bytes, most, &chain);
	if (!err)
		redis.ModuleTypeSetValue(key, kind->type, kind->cuckoo ? (void *)cuckoo : chain);
	if (!err || !kind->cuckoo)
		return err ? bad_data : NULL;
	return err == -EBADMSG ? "Invalid header" : "Couldn't create filter!";
}

/* ---- chunks. Each function returns NULL, or the error of BF.LOADCHUNK ---- */

/* Never clear bits: this keeps items added since, and a chunk may come twice. */
static void add_bits(unsigned char *to, const unsigned char *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] |= data[i];
}

/* Count the items of the chunk, unless the header has told them, as in weir's format. */
static void put_fingerprints(struct cuckoo *c, unsigned char *to, const unsigned char *data,
                             size_t bytes)
{
	if (!c->seed)
		c->items += cuckoo_fingerprints(data, bytes) - cuckoo_fingerprints(to, bytes);
	memcpy(to, data, bytes);
}

static const char *load_bits(const struct dump_key *k, unsigned i, uint64_t at, uint64_t items,
                             const unsigned char *data, size_t bytes)
{
	uint64_t all;
	unsigned char *bits = dump_array(k, i, &all) + at;
	if (bytes > all - at)
		return too_big;
	if (k->chain) {
		struct chain_link *l = k->link[i];
		if (items > l->capacity)
			return bad_data;
		add_bits(bits, data, bytes);
		l->items = items > l->items ? items : l->items;
		return NULL;
	}
	put_fingerprints(k->cuckoo, bits, data, bytes);
	return NULL;
}

/* RedisBloom's format. The chunk ends before the iterator. */
static const char *load_raw(const struct dump_key *k, uint64_t iterator, const unsigned char *data,
                            size_t bytes)
{
	uint64_t at, all;
	(void)dump_offset(k, 0, iterator, &at);
	if (at < bytes)
		return bad_data;
	at -= bytes;
	unsigned i = dump_find(k, &at);
	if (i == k->n)
		return bad_offset;
	unsigned char *to = dump_array(k, i, &all) + at;
	if (bytes > all - at)
		return too_big;
	if (k->chain)
		add_bits(to, data, bytes);
	else
		put_fingerprints(k->cuckoo, to, data, bytes);
	return NULL;
}

/* Return: the reason why a chunk of another key does not fit, in RedisBloom's words. */
static const char *why_another(const struct dump_key *k, uint64_t iterator, uint64_t offset,
                               size_t bytes)
{
	uint64_t all, at = iterator - 1, end = offset + bytes;
	if (iterator != 1 + end)
		return dump_find(k, &at) == k->n ? bad_offset : bad_data;
	unsigned i = dump_find(k, &offset);
	if (i == k->n)
		return bad_offset;
	(void)dump_array(k, i, &all);
	return bytes > all - offset ? too_big : bad_data;
}

static const char *load_framed(struct redis_context *context, struct dump_key *k,
                               uint64_t iterator, const unsigned char *data, size_t bytes)
{
	unsigned char header[DUMP_HEADER_MOST];
	uint64_t name;
	struct dump_frame f;
	(void)dump_put_header(k, header, &name);
	if (!bytes && k->chain)
		return NULL; /* as RedisBloom: nothing to load */
	if (!dump_get_frame(data, bytes, &f))
		return bad_data;
	if (f.name != name)
		return why_another(k, iterator, f.offset, bytes - DUMP_FRAME_BYTES);
	data += DUMP_FRAME_BYTES;
	bytes -= DUMP_FRAME_BYTES;
	uint64_t offset = f.offset;
	unsigned i = dump_find(k, &offset);
	if (!dump_fits(k, name, iterator, f.offset + bytes) || (i == k->n && offset))
		return bad_offset;
	if (i < k->n)
		return load_bits(k, i, offset, f.items, data, bytes);
	if (!k->chain || chain_grow(k->chain, key_most_for(context)))
		return bad_data; /* CF: a header makes all sub filters */
	*k = dump_of_chain(k->chain);
	const char *wrong = load_bits(k, i, 0, f.items, data, bytes);
	if (wrong)
		chain_shrink(k->chain);
	return wrong;
}

static const char *load_chunk(struct redis_context *context, const struct key_kind *kind,
                              void *value, uint64_t iterator, const unsigned char *data,
                              size_t bytes)
{
	struct dump_key k = kind->cuckoo ? dump_of_cuckoo(value) : dump_of_chain(value);
	const char *wrong = dump_is_raw(&k) ? load_raw(&k, iterator, data, bytes)
	                                    : load_framed(context, &k, iterator, data, bytes);
	return wrong && kind->cuckoo ? not_loaded : wrong;
}

/* ---- commands ---- */

/* The iterator of a header is 1; in weir's format CF has 1 below the mark. A chunk in RedisBloom's
 * format may have such an iterator. @cuckoo: the key; NULL: it is missing, or of BF. */
static bool is_header(const struct key_kind *kind, const struct cuckoo *cuckoo, uint64_t iterator)
{
	bool marked = kind->cuckoo && (!cuckoo || cuckoo->seed);
	return (marked ? iterator & ((1u << DUMP_PIECE_BITS) - 1) : iterator) == 1;
}

static const char *load(struct redis_context *context, const struct key_kind *kind,
                        struct redis_key *key, void *value, struct redis_string **argv, uint64_t n)
{
	size_t bytes;
	const void *data = redis.StringPtrLen(argv[3], &bytes);
	bool first = is_header(kind, kind->cuckoo ? value : NULL, n);
	if (value && first)
		return kind->cuckoo ? "ERR item exists" : bad_data;
	if (!value && !first)
		return "ERR not found";
	return value ? load_chunk(context, kind, value, n, data, bytes)
	             : load_header(context, kind, key, data, bytes);
}

static int load_chunks(struct redis_context *context, const struct key_kind *kind,
                       struct redis_string **argv, int argc)
{
	struct redis_key *key;
	void *value;
	long long n;
	if (argc != 4)
		return redis.WrongArity(context);
	if (redis.StringToLongLong(argv[2], &n) || (kind->cuckoo && !n))
		return redis.ReplyWithError(context, kind->cuckoo ? "Invalid position"
		                                     : "ERR Second argument must be numeric");
	if (!key_open(context, kind, argv[1], REDIS_READ | REDIS_WRITE, &key, &value)) {
		const char *wrong = load(context, kind, key, value, argv, (uint64_t)n);
		key_end(context, wrong);
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
