/* SPDX-License-Identifier: MIT
 * Read the values of RedisBloom's files. Version 4 is that of RedisBloom 2.2 and later. */
#include <errno.h>
#include <string.h>
#include "raw.h"
#include "rdb.h"

/* ---- BF: items, links, options (from version 2), growth (from 4); then for each link its
 * capacity, error, probes, bits for each item, bits, n2, array and items ---- */

static int load_link(struct redis_io *io, struct chain **c, uint32_t growth, uint32_t options)
{
	struct redisbloom_link l;
	size_t bytes = 0;
	l.capacity = redis.LoadUnsigned(io);
	l.error = redis.LoadDouble(io);
	uint64_t probes = redis.LoadUnsigned(io);
	l.bits_per_item = redis.LoadDouble(io);
	l.bits = redis.LoadUnsigned(io);
	uint64_t n2 = redis.LoadUnsigned(io);
	char *bits = redis.LoadStringBuffer(io, &bytes);
	l.items = redis.LoadUnsigned(io);
	if (!bits || redis.IsIOError(io)) {
		redis.Free(bits);
		return rdb_ended();
	}
	l.bytes = bytes;
	l.probes = (uint32_t)probes;
	l.n2 = (uint8_t)n2;
	int err = probes > UINT32_MAX || n2 > UINT8_MAX
	                  ? weir_fail(-EBADMSG, "a link has %llu probes or n2 %llu",
	                              (unsigned long long)probes, (unsigned long long)n2)
	                  : raw_append(c, &l, growth, options, key_most_for_value());
	if (!err)
		memcpy((*c)->newest->bits, bits, bytes);
	redis.Free(bits);
	return err;
}

/* The file does not tell the hash, and the first save makes a wrong choice final. */
static void tell_of_versions(struct redis_io *io)
{
	static bool told;
	if (!told && !key_options.server_hash)
		redis.LogIOError(io, "warning", "BF keys of RedisBloom 2.0 to 2.2 are loaded: if "
		                 "that was 2.0.0 or 2.0.1, load the same file again with the "
		                 "argument redisbloom-2.0.1 yes, before a save");
	told = true;
}

int rdb_load_old_bf(struct redis_io *io, int version, struct chain **c)
{
	if (version < 1 || version > 4)
		return weir_fail(-ENOTSUP, "version %d of a BF key is unknown", version);
	redis.LoadUnsigned(io); /* items: the sum of the links' */
	uint64_t links = redis.LoadUnsigned(io);
	uint64_t options = version > 1 ? redis.LoadUnsigned(io) : 0;
	uint64_t growth = version > 3 ? redis.LoadUnsigned(io) : 2;
	if (redis.IsIOError(io))
		return rdb_ended();
	if (!links || links > CHAIN_LINKS || options & ~(uint64_t)REDISBLOOM_OPTIONS ||
	    growth > UINT32_MAX)
		return weir_fail(-EBADMSG, "no filter has %llu links, options %#llx or growth %llu",
		                 (unsigned long long)links, (unsigned long long)options,
		                 (unsigned long long)growth);
	if (version == 3) {
		tell_of_versions(io);
		options = raw_old_options((uint32_t)options);
	}
	int err = 0;
	for (uint64_t i = 0; !err && i < links; i++)
		err = load_link(io, c, (uint32_t)growth, (uint32_t)options);
	return err;
}

/* ---- CF: sub filters, buckets, items; from version 4 deleted, bucket size, iterations and
 * expansion; then for each sub filter its buckets (from version 4) and its array ---- */

/* Before version 4 a filter had another hash, buckets of two, and sub filters of equal size. */
static int load_oldest(struct redis_io *io, uint64_t subs, uint64_t buckets, struct cuckoo **c)
{
	struct cuckoo_settings s = { .buckets = buckets, .bucket = 2, .iterations = 20,
		                     .expansion = 1, .old_hash = true };
	return rdb_load_subs(io, &s, subs, 0, 0, c);
}

int rdb_load_old_cf(struct redis_io *io, int version, struct cuckoo **c)
{
	struct cuckoo_settings s = { .seed = 0 };
	if (version < 3 || version > 4)
		return weir_fail(-ENOTSUP, "version %d of a CF key is unknown", version);
	uint64_t subs = redis.LoadUnsigned(io);
	s.buckets = redis.LoadUnsigned(io);
	redis.LoadUnsigned(io); /* items: counted */
	if (redis.IsIOError(io))
		return rdb_ended();
	if (!subs || subs > CUCKOO_SUBS)
		return weir_fail(-EBADMSG, "no filter has %llu sub filters",
		                 (unsigned long long)subs);
	if (version == 3)
		return load_oldest(io, subs, s.buckets, c);
	uint64_t deleted = redis.LoadUnsigned(io);
	s.bucket = redis.LoadUnsigned(io);
	s.iterations = redis.LoadUnsigned(io);
	s.expansion = redis.LoadUnsigned(io);
	int err = deleted >= CHAIN_NUMBERS ? weir_fail(-EBADMSG, "%llu deletions are too many",
	                                               (unsigned long long)deleted) : 0;
	redis.LoadUnsigned(io); /* buckets of sub filter 0: as above, checked by the size */
	if (!err)
		err = rdb_load_subs(io, &s, 1, deleted, 0, c);
	for (uint64_t j = 1; !err && j < subs; j++) {
		redis.LoadUnsigned(io);
		err = rdb_load_sub(io, *c, (unsigned)j);
	}
	return err;
}
