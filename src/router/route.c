/* SPDX-License-Identifier: MIT
 * Lookups: of one key and of many. */
#include "kind/batch.h"
#include "router/router.h"

enum { AT_A_TIME = 512 }; /* hashes made of a batch of keys */

static inline uint64_t route(const struct weir_filter *f, uint64_t hash)
{
	return weir__router_own(f)->kernel->route(&f->array, hash);
}

uint64_t weir_router_route_hash(const struct weir_router *r, uint64_t hash)
{
	return route(weir__router_filter(r), hash);
}

uint64_t weir_router_route(const struct weir_router *r, const void *key, size_t len)
{
	const struct weir_filter *f = weir__router_filter(r);
	return route(f, weir__hash_by(&f->hashing, key, len));
}

/* By value: a key whose address is taken would go through memory in the quick way too. */
static __attribute__((noinline)) uint64_t route_keyed(const struct weir_router *r, uint64_t key)
{
	return weir_router_route(r, &key, sizeof key);
}

uint64_t weir_router_route_u64(const struct weir_router *r, uint64_t key)
{
	const struct weir_filter *f = weir__router_filter(r);
	if (__builtin_expect(weir__keyed(&f->hashing), 0))
		return route_keyed(r, key);
	return route(f, weir__hash_u64(f->array.flip8, key));
}

size_t weir_router_route_hashes(const struct weir_router *r, const uint64_t *hashes, size_t n,
                                uint64_t *masks)
{
	const struct weir_filter *f = weir__router_filter(r);
	return weir__router_own(f)->kernel->route_each(&f->array, hashes, n, f->outgrows_cache,
	                                               masks);
}

static size_t route_batch(const struct weir_router *r, const struct weir_batch *batch,
                          uint64_t *masks)
{
	uint64_t hashes[AT_A_TIME];
	size_t positive = 0;
	for (size_t at = 0; at < batch->n; at += AT_A_TIME) {
		size_t n = weir__least(batch->n - at, AT_A_TIME);
		weir__batch_hash(weir__router_filter(r), batch, at, n, hashes);
		positive += weir_router_route_hashes(r, hashes, n, masks + at);
	}
	return positive;
}

size_t weir_router_route_keys(const struct weir_router *r, const struct iovec *keys, size_t n,
                              uint64_t *masks)
{
	const struct weir_batch batch = weir__batch_keys(keys, n);
	return route_batch(r, &batch, masks);
}

size_t weir_router_route_fixed(const struct weir_router *r, const void *keys, size_t key_bytes,
                               size_t n, uint64_t *masks)
{
	const struct weir_batch batch = weir__batch_fixed(weir__router_filter(r), keys, key_bytes,
	                                                  n);
	return route_batch(r, &batch, masks);
}
