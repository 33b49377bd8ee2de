/* SPDX-License-Identifier: MIT
 * The key types: how Redis saves, loads, copies, measures and frees keys. The types have the names
 * of RedisBloom's, so their files load here (rdb_old.c), and a client sees the same TYPE. The
 * encoding version is above all of RedisBloom's, so RedisBloom refuses a file of this module
 * instead of misreading it.
 *
 * A value has the numbers of each array and then its bytes as they are in memory. Redis's own
 * checksum covers them, and loading solves no formula. */
#include <errno.h>
#include <string.h>
#include "dump.h"
#include "raw.h"
#include "rdb.h"

enum { VERSION = 64 };
struct key_kind bf_keys = { NULL, "BF.LOADCHUNK", false };
struct key_kind cf_keys = { NULL, "CF.LOADCHUNK", true };

/* ---- BF: layout, error, capacity, seed, expansion, options, links; then for each link its
 * capacity, items, probes and words, error, n2 and bits ---- */

void rdb_save_chain(struct redis_io *io, const struct chain *c)
{
	struct chain_link *link[CHAIN_LINKS];
	unsigned n = chain_list(c, link);
	redis.SaveUnsigned(io, c->layout | (uint64_t)c->options << 8 | (uint64_t)n << 16 |
	                           (uint64_t)c->expansion << 32);
	redis.SaveDouble(io, c->error);
	redis.SaveUnsigned(io, c->capacity);
	redis.SaveUnsigned(io, c->seed);
	for (unsigned i = 0; i < n; i++) {
		struct chain_form f = chain_form_of(link[i]);
		redis.SaveUnsigned(io, f.probes | (uint64_t)f.words_per_key << 16 |
		                           (uint64_t)f.bits_per_word << 32 | (uint64_t)f.n2 << 48);
		redis.SaveUnsigned(io, f.capacity);
		redis.SaveUnsigned(io, link[i]->items);
		if (c->layout == CHAIN_REDISBLOOM)
			redis.SaveDouble(io, f.error);
		redis.SaveStringBuffer(io, (const char *)link[i]->bits, link[i]->bytes);
	}
}

static void save_bf(struct redis_io *io, void *value)
{
	rdb_save_chain(io, value);
}

/* Make or lengthen the chain. @f: lacks the bytes. */
static int append(struct chain **c, const struct chain_settings *s, struct chain_form *f,
                  uint64_t items, const char *bits, size_t bytes)
{
	f->bytes = bytes;
	if (items > (s->layout == CHAIN_OWN ? f->capacity : CHAIN_CAPACITY_MOST))
		return weir_fail(-EBADMSG, "a link has %llu items, its capacity is %llu",
		                 (unsigned long long)items, (unsigned long long)f->capacity);
	struct chain_settings first = *s;
	if (s->layout == CHAIN_REDISBLOOM) { /* these are the first link's, as in RedisBloom */
		first.error = f->error;
		first.capacity = f->capacity;
	}
	int err = *c ? chain_append(*c, f, 0) : chain_create_as(c, &first, f, 0, &key_memory);
	if (err)
		return err;
	memcpy((*c)->newest->bits, bits, bytes);
	(*c)->newest->items = items;
	return 0;
}

static int load_link(struct redis_io *io, struct chain **c, const struct chain_settings *s)
{
	uint64_t packed = redis.LoadUnsigned(io);
	struct chain_form f = { .probes = packed & 0xffff, .words_per_key = packed >> 16 & 0xffff,
		                .bits_per_word = packed >> 32 & 0xffff, .n2 = packed >> 48 & 0xff };
	f.capacity = redis.LoadUnsigned(io);
	uint64_t items = redis.LoadUnsigned(io);
	size_t bytes = 0;
	if (s->layout == CHAIN_REDISBLOOM)
		f.error = redis.LoadDouble(io);
	char *bits = redis.LoadStringBuffer(io, &bytes);
	if (!bits || redis.IsIOError(io))
		return rdb_ended();
	int err = append(c, s, &f, items, bits, bytes);
	redis.Free(bits);
	return err;
}

int rdb_load_chain(struct redis_io *io, struct chain **c)
{
	uint64_t packed = redis.LoadUnsigned(io);
	struct chain_settings s = { .layout = packed & 0xff ? CHAIN_REDISBLOOM : CHAIN_OWN,
		                    .options = packed >> 8 & 0xff, .expansion = packed >> 32 };
	uint64_t links = packed >> 16 & 0xffff;
	s.error = redis.LoadDouble(io);
	s.capacity = redis.LoadUnsigned(io);
	s.seed = redis.LoadUnsigned(io);
	int err = !links || redis.IsIOError(io) ? rdb_ended() : 0;
	for (uint64_t i = 0; !err && i < links; i++)
		err = load_link(io, c, &s);
	return err;
}

static void *load_bf(struct redis_io *io, int version)
{
	struct chain *c = NULL;
	int err = version == VERSION ? rdb_load_chain(io, &c) : rdb_load_old_bf(io, version, &c);
	if (!err)
		return c;
	redis.LogIOError(io, "warning", "a filter is refused: %s", weir_error_detail());
	chain_destroy(c);
	return NULL;
}

/* ---- CF: buckets, seed, bucket size, iterations, expansion, hash, sub filters, deleted, changes;
 * then each sub filter ---- */

static void save_cf(struct redis_io *io, void *value)
{
	const struct cuckoo *c = value;
	redis.SaveUnsigned(io, c->bucket | (uint64_t)c->old_hash << 8 |
	                           (uint64_t)c->iterations << 16 | (uint64_t)c->expansion << 32 |
	                           (uint64_t)c->subs << 48);
	redis.SaveUnsigned(io, c->buckets);
	redis.SaveUnsigned(io, c->seed);
	redis.SaveUnsigned(io, c->deleted);
	redis.SaveUnsigned(io, c->seed ? c->changes : 0); /* dumps need them */
	for (unsigned j = 0; j < c->subs; j++)
		redis.SaveStringBuffer(io, (const char *)cuckoo_sub(c, j), cuckoo_sub_bytes(c, j));
}

static int load_own_cf(struct redis_io *io, struct cuckoo **c)
{
	uint64_t packed = redis.LoadUnsigned(io);
	struct cuckoo_settings s = { .bucket = packed & 0xff, .iterations = packed >> 16 & 0xffff,
		                     .expansion = packed >> 32 & 0xffff,
		                     .old_hash = packed >> 8 & 1 };
	s.buckets = redis.LoadUnsigned(io);
	s.seed = redis.LoadUnsigned(io);
	uint64_t deleted = redis.LoadUnsigned(io), changes = redis.LoadUnsigned(io);
	if (redis.IsIOError(io) || !(packed >> 48))
		return rdb_ended();
	if (deleted >= CHAIN_NUMBERS || changes >= CHAIN_NUMBERS)
		return weir_fail(-EBADMSG, "%llu deletions or %llu changes are more than there "
		                 "can be", (unsigned long long)deleted,
		                 (unsigned long long)changes);
	return rdb_load_subs(io, &s, packed >> 48, deleted, changes, c);
}

static void *load_cf(struct redis_io *io, int version)
{
	struct cuckoo *c = NULL;
	int err = version == VERSION ? load_own_cf(io, &c) : rdb_load_old_cf(io, version, &c);
	if (!err)
		return c;
	redis.LogIOError(io, "warning", "a filter is refused: %s", weir_error_detail());
	cuckoo_destroy(c);
	return NULL;
}

/* ---- other callbacks ---- */

static size_t usage_bf(const void *value)
{
	return chain_usage(value) + VALUE_RECORDS;
}

static size_t usage_cf(const void *value)
{
	return cuckoo_usage(value) + VALUE_RECORDS;
}

static void release_bf(void *value)
{
	chain_destroy(value);
}

static void release_cf(void *value)
{
	cuckoo_destroy(value);
}

/* Return: the size in MB; above 64 Redis frees the value in the background. */
static size_t effort_bf(struct redis_string *key, const void *value)
{
	(void)key;
	return chain_bytes(value) >> 20;
}

static size_t effort_cf(struct redis_string *key, const void *value)
{
	(void)key;
	return cuckoo_bytes(value) >> 20;
}

static void *copy_bf(struct redis_string *from, struct redis_string *to, const void *value)
{
	struct chain *c = NULL;
	(void)from;
	(void)to;
	return chain_copy(&c, value) ? NULL : c;
}

static void *copy_cf(struct redis_string *from, struct redis_string *to, const void *value)
{
	struct cuckoo *c = NULL;
	(void)from;
	(void)to;
	return cuckoo_copy(&c, value) ? NULL : c;
}

/* DEBUG DIGEST-VALUE: the header and all arrays. */
static void digest(void *to, const struct dump_key *k)
{
	unsigned char header[DUMP_HEADER_MOST];
	uint64_t name, bytes;
	size_t n = dump_put_header(k, header, &name);
	redis.DigestAddStringBuffer(to, (const char *)header, n);
	for (unsigned i = 0; i < k->n; i++) {
		const unsigned char *bits = dump_array(k, i, &bytes);
		redis.DigestAddStringBuffer(to, (const char *)bits, bytes);
	}
	redis.DigestEndSequence(to);
}

static void digest_bf(void *to, void *value)
{
	struct dump_key k = dump_of_chain(value);
	digest(to, &k);
}

static void digest_cf(void *to, void *value)
{
	struct dump_key k = dump_of_cuckoo(value);
	digest(to, &k);
}

int key_types_create(struct redis_context *context)
{
	static struct redis_methods bf = { .version = 4, .rdb_load = load_bf, .rdb_save = save_bf,
		.aof_rewrite = bf_rewrite, .mem_usage = usage_bf, .digest = digest_bf,
		.free = release_bf, .free_effort = effort_bf, .copy = copy_bf };
	static struct redis_methods cf = { .version = 4, .rdb_load = load_cf, .rdb_save = save_cf,
		.aof_rewrite = cf_rewrite, .mem_usage = usage_cf, .digest = digest_cf,
		.free = release_cf, .free_effort = effort_cf, .copy = copy_cf };
	bf_keys.type = redis.CreateDataType(context, "MBbloom--", VERSION, &bf);
	cf_keys.type = redis.CreateDataType(context, "MBbloomCF", VERSION, &cf);
	return bf_keys.type && cf_keys.type ? REDIS_OK : REDIS_ERR;
}
