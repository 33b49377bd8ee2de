/* SPDX-License-Identifier: MIT
 * The key types: how Redis saves, loads, copies, measures and frees keys. The types have the names
 * of RedisBloom's, so their files load here (rdb_old.c), and a client sees the same TYPE. The
 * encoding version is above all of RedisBloom's, so RedisBloom refuses a file of this module
 * instead of misreading it.
 *
 * A value has the numbers of its arrays, and the bytes of each array as they are in memory. Redis's
 * own checksum covers them, and loading solves no formula. */
#include <errno.h>
#include <string.h>
#include "raw.h"
#include "rdb.h"

enum { VERSION = 64 };
struct key_kind bf_keys = { NULL, "BF.LOADCHUNK", false };
struct key_kind cf_keys = { NULL, "CF.LOADCHUNK", true };

/* ---- BF: rdb_chain.c ---- */

static void save_bf(struct redis_io *io, void *value)
{
	rdb_save_chain(io, value);
}

static void *load_bf(struct redis_io *io, int version)
{
	struct chain *c = NULL;
	int err = version == VERSION ? rdb_load_chain(io, &c) : rdb_load_old_bf(io, version, &c);
	if (!err)
		return c;
	redis.LogIOError(io, key_log_level(), "a filter is refused: %s", weir_error_detail());
	chain_destroy(c);
	return NULL;
}

/* ---- CF: buckets, seed, bucket size, iterations, expansion, hash, sub filters, deleted, changes,
 * items; then each sub filter ---- */

static void save_cf(struct redis_io *io, void *value)
{
	const struct cuckoo *c = value;
	redis.SaveUnsigned(io, c->bucket | (uint64_t)c->old_hash << 8 |
	                           (uint64_t)c->iterations << 16 | (uint64_t)c->expansion << 32 |
	                           (uint64_t)c->subs << 48);
	redis.SaveUnsigned(io, c->buckets);
	redis.SaveUnsigned(io, c->seed);
	redis.SaveUnsigned(io, c->deleted);
	/* Dumps need the changes. CF.DEL compacts by the items, which a dump's header has told. */
	redis.SaveUnsigned(io, c->seed ? c->changes : 0);
	redis.SaveUnsigned(io, c->seed ? c->items : 0);
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
	uint64_t items = redis.LoadUnsigned(io);
	if (redis.IsIOError(io) || !(packed >> 48))
		return rdb_ended();
	if (deleted >= CHAIN_NUMBERS || changes >= CHAIN_NUMBERS || items >= CHAIN_NUMBERS)
		return weir_fail(-EBADMSG, "%llu deletions, %llu changes or %llu items are more "
		                 "than there can be", (unsigned long long)deleted,
		                 (unsigned long long)changes, (unsigned long long)items);
	int err = rdb_load_subs(io, &s, packed >> 48, deleted, changes, c);
	if (!err && s.seed)
		(*c)->items = items;
	return err;
}

static void *load_cf(struct redis_io *io, int version)
{
	struct cuckoo *c = NULL;
	int err = version == VERSION ? load_own_cf(io, &c) : rdb_load_old_cf(io, version, &c);
	if (!err)
		return c;
	redis.LogIOError(io, key_log_level(), "a filter is refused: %s", weir_error_detail());
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

void rdb_digest(void *to, const struct dump_key *k)
{
	unsigned char header[DUMP_HEADER_MOST];
	uint64_t name, bytes;
	size_t n = dump_put_header(k, header, &name);
	redis.DigestAddStringBuffer(to, (const char *)header, n);
	for (unsigned i = 0; i < k->n; i++) {
		const unsigned char *bits = dump_array(k, i, &bytes);
		redis.DigestAddStringBuffer(to, (const char *)bits, bytes);
	}
}

static void digest_bf(void *to, void *value)
{
	struct dump_key k = dump_of_chain(value);
	rdb_digest(to, &k);
	redis.DigestEndSequence(to);
}

static void digest_cf(void *to, void *value)
{
	struct dump_key k = dump_of_cuckoo(value);
	rdb_digest(to, &k);
	redis.DigestEndSequence(to);
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
