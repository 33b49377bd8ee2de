/* SPDX-License-Identifier: MIT
 * Read the sub filters of a CF value, of this module's or of RedisBloom's. */
#include <errno.h>
#include <string.h>
#include "rdb.h"

int rdb_ended(void)
{
	return weir_fail(-EBADMSG, "the value ends early");
}

int rdb_load_sub(struct redis_io *io, struct cuckoo *c, unsigned j)
{
	size_t bytes = 0;
	char *text = redis.LoadStringBuffer(io, &bytes);
	if (!text || redis.IsIOError(io))
		return rdb_ended();
	int err = 0;
	if (bytes != (j < c->subs ? cuckoo_sub_bytes(c, j) : cuckoo_next_bytes(c)))
		err = weir_fail(-EBADMSG, "sub filter %u has %zu bytes, which is wrong", j, bytes);
	if (!err && j == c->subs)
		err = cuckoo_grow(c, key_most_for_value());
	if (!err) {
		memcpy(cuckoo_sub(c, j), text, bytes);
		c->items += cuckoo_fingerprints(text, bytes);
	}
	redis.Free(text);
	return err;
}

/* The first sub filter is read before memory is allocated for it. */
int rdb_load_subs(struct redis_io *io, const struct cuckoo_settings *s, uint64_t subs,
                  uint64_t deleted, uint64_t changes, struct cuckoo **c)
{
	size_t bytes = 0;
	if (subs > key_subs_most())
		return weir_fail(-EFBIG, "%llu sub filters are more than CF_MAX_EXPANSIONS, %llu",
		                 (unsigned long long)subs, (unsigned long long)key_subs_most());
	char *text = redis.LoadStringBuffer(io, &bytes);
	if (!text || redis.IsIOError(io))
		return rdb_ended();
	int err = s->buckets > bytes || bytes != s->buckets * s->bucket
	                  ? weir_fail(-EBADMSG, "%llu buckets of %llu do not have %zu bytes",
	                              (unsigned long long)s->buckets,
	                              (unsigned long long)s->bucket, bytes)
	                  : cuckoo_create(c, s, key_most_for_value(), &key_memory);
	if (!err) {
		memcpy(cuckoo_sub(*c, 0), text, bytes);
		(*c)->items = cuckoo_fingerprints(text, bytes);
		(*c)->deleted = deleted;
		(*c)->changes = changes;
	}
	redis.Free(text);
	for (uint64_t j = 1; !err && j < subs; j++)
		err = rdb_load_sub(io, *c, (unsigned)j);
	return err;
}
