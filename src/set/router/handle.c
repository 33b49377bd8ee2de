/* SPDX-License-Identifier: MIT
 * A handle of routers. What it publishes, and why nothing is lost, is H1 to H7 in
 * set/generation.h: the records, the claim and the grace periods are those of filters. What is of
 * routers alone is that an insert names a set. */
#include <weir/handle.h>
#include <weir/reload.h>
#include "ground/error.h"
#include "ground/threads.h"
#include "kind/batch.h"
#include "set/router/handle.h"

int weir_router_handle_create(struct weir_router_handle **out, struct weir_router *initial,
                              const struct weir_router_handle_options *options)
{
	struct weir_router_handle_options o = WEIR_ROUTER_HANDLE_OPTIONS_INIT;
	struct weir_handle_options of_filters = WEIR_HANDLE_OPTIONS_INIT;
	struct weir_handle *h;
	if (!out || !initial)
		return weir__fail(-EINVAL, "%s is NULL: weir_router_handle_create needs it",
		                  out ? "the router" : "out");
	int err = weir__options_copy(&o, sizeof o, options, "weir_router_handle_options");
	of_filters.flavor = o.flavor;
	if (!err)
		err = weir_handle_create(&h, weir__router_mut(initial), &of_filters);
	if (!err)
		*out = (struct weir_router_handle *)(void *)h;
	return err;
}

int weir_router_handle_destroy(struct weir_router_handle *h)
{
	return weir_handle_destroy(weir__router_handle(h));
}

/* In a section. */
static inline const struct weir_router *current(const struct weir_handle *h)
{
	return weir__router_of(weir__generation(h)->current);
}

const struct weir_router *weir_router_handle_get(const struct weir_router_handle *handle)
{
	return current(weir__router_handle_of(handle));
}

uint64_t weir_router_handle_hash(const struct weir_router_handle *handle, const void *key,
                                 size_t len)
{
	return weir_handle_hash(weir__router_handle_of(handle), key, len);
}

uint64_t weir_router_handle_route(const struct weir_router_handle *handle, const void *key,
                                  size_t len)
{
	const struct weir_handle *h = weir__router_handle_of(handle);
	uint64_t mask;
	WEIR__IN_SECTION(&h->rcu, mask = weir_router_route(current(h), key, len));
	return mask;
}

uint64_t weir_router_handle_route_hash(const struct weir_router_handle *handle, uint64_t hash)
{
	const struct weir_handle *h = weir__router_handle_of(handle);
	uint64_t mask;
	WEIR__IN_SECTION(&h->rcu, mask = weir_router_route_hash(current(h), hash));
	return mask;
}

uint64_t weir_router_handle_route_u64(const struct weir_router_handle *handle, uint64_t key)
{
	const struct weir_handle *h = weir__router_handle_of(handle);
	uint64_t mask;
	WEIR__IN_SECTION(&h->rcu, mask = weir_router_route_u64(current(h), key));
	return mask;
}

int64_t weir_router_handle_route_keys(const struct weir_router_handle *handle,
                                      struct weir_keys keys, uint64_t *masks)
{
	const struct weir_handle *h = weir__router_handle_of(handle);
	int64_t positive;
	WEIR__IN_SECTION(&h->rcu,
	                 positive = weir_router_route_keys(current(h), keys, masks));
	return positive;
}

/* In a section: into every router of the record, H1, current first. It alone can refuse (R4), and
 * it alone decides whether a key is new (H8). */
static int64_t insert_each(const struct weir_generation *g, uint32_t set, const uint64_t *hashes,
                           size_t n, uint64_t *bitmap)
{
	int64_t answer = weir__router_insert_check(g->current, set);
	if (answer < 0)
		return answer;
	answer = weir__router_insert_hashes(g->current, set, hashes, n, bitmap);
	for (unsigned i = 1; i < WEIR_TAKERS; i++) {
		struct weir_filter *taker = weir__taker(g, i);
		if (taker)
			(void)weir__router_insert_hashes(taker, set, hashes, n, NULL);
	}
	return answer;
}

enum { AT_A_TIME = 512 }; /* hashes made of a batch of keys: a multiple of 64 */

/* In a section. A hash of one generation is one of each (R4). */
static int64_t insert_batch(const struct weir_generation *g, uint32_t set, struct weir_keys keys,
                            uint64_t *bitmap)
{
	uint64_t hashes[AT_A_TIME];
	int64_t new = 0;
	for (size_t at = 0; at < keys.n || at == 0; at += AT_A_TIME) {
		const size_t n = keys.n - at < AT_A_TIME ? keys.n - at : AT_A_TIME;
		weir_hash_keys(g->current, weir_keys_part(keys, at, n), hashes);
		int64_t answer = insert_each(g, set, hashes, n, bitmap ? bitmap + at / 64 : NULL);
		if (answer < 0)
			return answer;
		new += answer;
	}
	return new;
}

int64_t weir_router_handle_insert_keys(struct weir_router_handle *handle, uint32_t set,
                                       struct weir_keys keys, uint64_t *bitmap)
{
	struct weir_handle *h = weir__router_handle(handle);
	int64_t answer;
	if (keys.n && !weir__keys_form(keys))
		return weir__keys_refused();
	WEIR__IN_SECTION(&h->rcu, answer = insert_batch(weir__generation(h), set, keys, bitmap));
	return answer;
}

int weir_router_handle_insert_hash(struct weir_router_handle *handle, uint32_t set, uint64_t hash)
{
	struct weir_handle *h = weir__router_handle(handle);
	int answer;
	WEIR__IN_SECTION(&h->rcu,
	                 answer = (int)insert_each(weir__generation(h), set, &hash, 1, NULL));
	return answer;
}

int weir_router_handle_insert(struct weir_router_handle *handle, uint32_t set, const void *key,
                              size_t len)
{
	/* a hash of one generation is one of each (R4) */
	return weir_router_handle_insert_hash(handle, set,
	                                      weir_router_handle_hash(handle, key, len));
}

int weir_router_handle_insert_u64(struct weir_router_handle *handle, uint32_t set, uint64_t key)
{
	return weir_router_handle_insert(handle, set, &key, sizeof key);
}

int weir_router_handle_rollback(struct weir_router_handle *handle)
{
	return weir_handle_rollback(weir__router_handle(handle));
}

int weir_router_handle_drop_previous(struct weir_router_handle *handle)
{
	return weir_handle_drop_previous(weir__router_handle(handle));
}
