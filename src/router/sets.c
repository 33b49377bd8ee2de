/* SPDX-License-Identifier: MIT
 * The public functions that insert into one set, or tell which sets have a key. A filter that is
 * not a router acts as a router with the one set 0. */
#include <inttypes.h>
#include "ground/error.h"
#include "kind/batch.h"
#include "router/router.h"

enum { AT_A_TIME = 256 }; /* hashes at a time; a multiple of 64 */

/* ---- inserts ---- */

/* Check that the set exists and the filter takes inserts. */
static int check(const struct weir_filter *f, uint32_t set)
{
	const uint32_t sets = weir_router_sets(f);
	if (set >= sets)
		return weir__fail(-EINVAL, "set %" PRIu32 ": the filter has %" PRIu32
		                  ", from 0 on", set, sets);
	return f->insert_error ? weir__insert_refused(f) : 0;
}

int weir_insert_into_hash(struct weir_filter *f, uint32_t set, uint64_t hash)
{
	int err = check(f, set);
	if (err || !f->kernel->route)
		return err ? err : weir_insert_hash(f, hash);
	return weir__router_insert_one(f, UINT64_C(1) << set, hash);
}

int weir_insert_into(struct weir_filter *f, uint32_t set, const void *key, size_t len)
{
	int err = f->kernel->route ? 0 : check(f, set);
	if (err || !f->kernel->route)
		return err ? err : weir_insert(f, key, len);
	return weir_insert_into_hash(f, set, weir_hash(f, key, len));
}

int weir_insert_into_u64(struct weir_filter *f, uint32_t set, uint64_t key)
{
	int err = f->kernel->route ? 0 : check(f, set);
	if (err || !f->kernel->route)
		return err ? err : weir_insert_u64(f, key);
	return weir_insert_into_hash(f, set, weir_hash_u64(f, key));
}

static int64_t insert_keys(struct weir_filter *f, uint64_t sets, struct weir_keys keys,
                           uint64_t *bitmap)
{
	uint64_t hashes[AT_A_TIME];
	int64_t new = 0;
	if (keys.form == WEIR_KEYS_HASHES)
		return weir__router_insert(f, sets, keys.at, keys.n, bitmap);
	const struct weir_batch batch = weir__batch(f, keys);
	for (size_t at = 0; at < keys.n; at += AT_A_TIME) {
		size_t n = weir__least(keys.n - at, AT_A_TIME);
		weir__batch_hash(f, &batch, at, n, hashes);
		new += weir__router_insert(f, sets, hashes, n, bitmap ? bitmap + at / 64 : NULL);
	}
	return new;
}

int64_t weir_insert_into_keys(struct weir_filter *f, uint32_t set, struct weir_keys keys,
                              uint64_t *bitmap)
{
	int err = check(f, set);
	if (!err && keys.n && !weir__keys_form(keys))
		err = weir__keys_refused();
	if (err)
		return weir__stopped(0, err);
	return f->kernel->route ? insert_keys(f, UINT64_C(1) << set, keys, bitmap) :
	                          weir_insert_keys(f, keys, bitmap);
}

/* ---- lookups ---- */

/* Return: the answer of a filter that is not a router, as a mask of sets. */
static uint64_t mask_of(const struct weir_filter *f, bool contained)
{
	return contained ? weir__all_sets(f) : 0;
}

uint64_t weir_route_hash(const struct weir_filter *f, uint64_t hash)
{
	return f->kernel->route ? f->kernel->route(&f->array, hash) :
	                          mask_of(f, weir_contains_hash(f, hash));
}

uint64_t weir_route(const struct weir_filter *f, const void *key, size_t len)
{
	return f->kernel->route ? f->kernel->route(&f->array, weir_hash(f, key, len)) :
	                          mask_of(f, weir_contains(f, key, len));
}

/* The slow path of weir_route_u64(). It takes the key by value: a pointer to the key would force
 * the key into memory on the fast path too. */
static __attribute__((noinline)) uint64_t route_bytes(const struct weir_filter *f, uint64_t key)
{
	return f->kernel->route ? f->kernel->route(&f->array, weir_hash_u64(f, key)) :
	                          mask_of(f, weir_contains_u64(f, key));
}

uint64_t weir_route_u64(const struct weir_filter *f, uint64_t key)
{
	if (__builtin_expect(!f->kernel->route || weir__keyed(&f->hashing), 0))
		return route_bytes(f, key);
	return f->kernel->route(&f->array, weir__hash_u64(f->array.flip8, key));
}

/* Look up in a filter that is not a router, 64 keys at a time. */
static int64_t route_one_set(const struct weir_filter *f, struct weir_keys keys, uint64_t *masks)
{
	int64_t positive = 0;
	for (size_t at = 0; at < keys.n; at += 64) {
		const size_t n = weir__least(keys.n - at, 64);
		uint64_t answers;
		positive += weir_contains_keys(f, weir_keys_part(keys, at, n), &answers);
		for (size_t i = 0; i < n; i++)
			masks[at + i] = mask_of(f, answers >> i & 1);
	}
	return positive;
}

int64_t weir_route_keys(const struct weir_filter *f, struct weir_keys keys, uint64_t *masks)
{
	const struct weir_kernel *kernel = f->kernel;
	const bool far = f->outgrows_cache;
	uint64_t hashes[AT_A_TIME];
	size_t positive = 0;
	/* If keys.form is invalid, route_one_set() sets the bits of all sets in each mask. */
	if (!kernel->route || !weir__keys_form(keys))
		return route_one_set(f, keys, masks);
	if (keys.form == WEIR_KEYS_HASHES)
		return (int64_t)kernel->route_each(&f->array, keys.at, keys.n, far, masks);
	const struct weir_batch batch = weir__batch(f, keys);
	for (size_t at = 0; at < keys.n; at += AT_A_TIME) {
		const size_t n = weir__least(keys.n - at, AT_A_TIME);
		weir__batch_hash(f, &batch, at, n, hashes);
		positive += kernel->route_each(&f->array, hashes, n, far, masks + at);
	}
	return (int64_t)positive;
}
