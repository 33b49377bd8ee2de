/* SPDX-License-Identifier: MIT
 * Inserts and lookups: of one key and of many. */
#include <inttypes.h>
#include "ground/error.h"
#include "kind/batch.h"
#include "router/router.h"

enum {
	AT_A_TIME = 512, /* hashes made of a batch of keys: a multiple of 64 */
	AHEAD = 8,       /* keys whose lines are fetched ahead, to be written */
};

int weir__router_insert_check(const struct weir_filter *f, uint32_t set)
{
	const uint32_t sets = weir__router_sets(&f->array);
	if (set >= sets)
		return weir__fail(-EINVAL, "set %" PRIu32 ": the router has %" PRIu32 ", from 0 on",
		                  set, sets);
	return f->insert_error ? weir__insert_refused(f) : 0;
}

int weir_router_insert_hash(struct weir_router *r, uint32_t set, uint64_t hash)
{
	const struct weir_filter *f = weir__router_filter(r);
	int err = weir__router_insert_check(f, set);
	return err ? err : weir__router_set(&f->array, set, hash);
}

int weir_router_insert(struct weir_router *r, uint32_t set, const void *key, size_t len)
{
	return weir_router_insert_hash(r, set, weir_router_hash(r, key, len));
}

int weir_router_insert_u64(struct weir_router *r, uint32_t set, uint64_t key)
{
	return weir_router_insert(r, set, &key, sizeof key);
}

static void fetch(const struct weir_array *a, uint64_t hash)
{
	const unsigned columns = weir__router_columns(a), k = weir__router_probes(a);
	const uint64_t *page = weir__router_page(a, hash);
	uint64_t r = weir__remix(hash), r2 = weir__remix2(r);
	for (unsigned i = 0; i < k; i++)
		__builtin_prefetch(page + weir__row_word(columns, weir__row(columns, i, r, r2)), 1,
		                   3);
}

int64_t weir__router_insert_hashes(struct weir_filter *f, uint32_t set, const uint64_t *hashes,
                                   size_t n, uint64_t *bitmap)
{
	const bool far = f->outgrows_cache;
	uint64_t answers = 0;
	int64_t new = 0;
	for (size_t i = 0; i < n; i++) {
		if (far && i + AHEAD < n)
			fetch(&f->array, hashes[i + AHEAD]);
		answers |= (uint64_t)weir__router_set(&f->array, set, hashes[i]) << (i % 64);
		if (i % 64 < 63 && i + 1 < n)
			continue;
		new += __builtin_popcountll(answers);
		if (bitmap)
			bitmap[i / 64] = answers;
		answers = 0;
	}
	return new;
}

int64_t weir_router_insert_keys(struct weir_router *r, uint32_t set, struct weir_keys keys,
                                uint64_t *bitmap)
{
	struct weir_filter *f = weir__router_mut(r);
	uint64_t hashes[AT_A_TIME];
	int64_t new = 0;
	int err = weir__router_insert_check(f, set);
	if (!err && keys.n && !weir__keys_form(keys))
		err = weir__keys_refused();
	if (err)
		return err;
	if (keys.form == WEIR_KEYS_HASHES)
		return weir__router_insert_hashes(f, set, keys.at, keys.n, bitmap);
	const struct weir_batch batch = weir__batch(f, keys);
	for (size_t at = 0; at < keys.n; at += AT_A_TIME) {
		size_t n = weir__least(keys.n - at, AT_A_TIME);
		weir__batch_hash(f, &batch, at, n, hashes);
		new += weir__router_insert_hashes(f, set, hashes, n,
		                                  bitmap ? bitmap + at / 64 : NULL);
	}
	return new;
}

/* ---- lookups ---- */

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
