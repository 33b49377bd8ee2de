/* SPDX-License-Identifier: MIT
 * Lookups: of one key and of many. */
#include "kind/batch.h"
#include "router/router.h"

enum { AT_A_TIME = 512 }; /* hashes made of a batch of keys */

static inline uint64_t route(const struct weir_filter *f, uint64_t hash)
{
	return weir__router_own(f)->kernel->route(&f->array, hash);
}

/* Of a batch that cannot be taken. */
static int64_t every_set(const struct weir_filter *f, size_t n, uint64_t *masks)
{
	for (size_t i = 0; i < n; i++)
		masks[i] = weir__router_all(&f->array);
	return (int64_t)n;
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

int64_t weir_router_route_keys(const struct weir_router *r, struct weir_keys keys, uint64_t *masks)
{
	const struct weir_filter *f = weir__router_filter(r);
	const struct weir_router_kernel *kernel = weir__router_own(f)->kernel;
	const bool far = f->outgrows_cache;
	uint64_t hashes[AT_A_TIME];
	size_t positive = 0;
	if (keys.form == WEIR_KEYS_HASHES)
		return (int64_t)kernel->route_each(&f->array, keys.at, keys.n, far, masks);
	if (!weir__keys_form(keys))
		return every_set(f, keys.n, masks);
	const struct weir_batch batch = weir__batch(f, keys);
	for (size_t at = 0; at < keys.n; at += AT_A_TIME) {
		const size_t n = weir__least(keys.n - at, AT_A_TIME);
		weir__batch_hash(f, &batch, at, n, hashes);
		positive += kernel->route_each(&f->array, hashes, n, far, masks + at);
	}
	return (int64_t)positive;
}
