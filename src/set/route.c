/* SPDX-License-Identifier: MIT
 * The functions of a handle that insert into one set of a router, or tell which sets have a key.
 * The rules in generation.h say why no insert is lost. All routers of a handle have the same sets
 * ([SAME-SETS] in router/router.h). */
#include "ground/error.h"
#include "kind/batch.h"
#include "router/router.h"
#include "set/generation.h"

/* ---- lookups: in a section, on the current filter ---- */

/* [PLACEHOLDER]: before the first filter the answer is every set, or none. */
static uint64_t route_absent(const struct weir_generation *g)
{
	return weir_contains_hash(g->current, 0) ? WEIR_ALL_SETS : 0;
}

/* [ANY-SEED]: if the hash may belong to any filter, answer all sets. */
static uint64_t route_hash(const struct weir_generation *g, uint64_t hash)
{
	if (g->absence)
		return route_absent(g);
	return g->by_hash == &weir__any_hash ? weir__all_sets(g->current) :
	                                       weir_route_hash(g->current, hash);
}

uint64_t weir_handle_route(const struct weir_handle *h, const void *key, size_t len)
{
	uint64_t mask;
	weir__read_lock(&h->rcu);
	const struct weir_generation *g = weir__generation(h);
	mask = g->absence ? route_absent(g) : weir_route(g->current, key, len);
	weir__read_unlock(&h->rcu);
	return mask;
}

uint64_t weir_handle_route_u64(const struct weir_handle *h, uint64_t key)
{
	uint64_t mask;
	weir__read_lock(&h->rcu);
	const struct weir_generation *g = weir__generation(h);
	mask = g->absence ? route_absent(g) : weir_route_u64(g->current, key);
	weir__read_unlock(&h->rcu);
	return mask;
}

uint64_t weir_handle_route_hash(const struct weir_handle *h, uint64_t hash)
{
	uint64_t mask;
	WEIR__IN_SECTION(&h->rcu, mask = route_hash(weir__generation(h), hash));
	return mask;
}

static int64_t route_keys(const struct weir_generation *g, struct weir_keys keys, uint64_t *masks)
{
	const bool unknown = keys.form == WEIR_KEYS_HASHES && g->by_hash == &weir__any_hash;
	if (!g->absence && !unknown)
		return weir_route_keys(g->current, keys, masks);
	const uint64_t mask = g->absence ? route_absent(g) : weir__all_sets(g->current);
	for (size_t i = 0; i < keys.n; i++)
		masks[i] = mask;
	return mask ? (int64_t)keys.n : 0;
}

int64_t weir_handle_route_keys(const struct weir_handle *h, struct weir_keys keys, uint64_t *masks)
{
	int64_t positive;
	WEIR__IN_SECTION(&h->rcu, positive = route_keys(weir__generation(h), keys, masks));
	return positive;
}

/* ---- inserts: in a section, into every filter of the record ([DUAL-WRITE]) ---- */

/* Insert into current first, since only current decides whether a key is new ([ONE-DECIDER]). The
 * next router has the same sets ([SAME-SETS]) and takes inserts, so it never refuses a key that
 * current took. A previous router that refuses becomes void ([REFUSED-KEY]). */
static int64_t insert_each(const struct weir_generation *g, uint32_t set, struct weir_keys keys,
                           uint64_t *bitmap)
{
	int64_t answer = weir_insert_into_keys(g->current, set, keys, bitmap);
	for (unsigned i = 1; i < WEIR_RECORD_FILTERS && answer >= 0; i++) {
		struct weir_filter *filter = weir__record_filter(g, i);
		if (filter && weir_insert_into_keys(filter, set, keys, NULL) < 0 && i == 2)
			(void)weir__standby_decide_relaxed(&filter->standby, WEIR_STANDBY_VOID);
	}
	return answer;
}

static int64_t insert_keys(const struct weir_generation *g, uint32_t set, struct weir_keys keys,
                           uint64_t *bitmap)
{
	if (g->absence)
		return weir__stopped(0, weir__fail(-EAGAIN, "no router is published yet: which "
		                                   "sets there will be is not known"));
	if (keys.form == WEIR_KEYS_HASHES && g->beside & WEIR_BESIDE_NO_HASHES)
		return weir__stopped(0, weir__refuse_hashes("insert"));
	if (g->beside && !g->current->kernel->route && set == 0)
		return weir__insert_keys_beside(g, keys, bitmap);
	return insert_each(g, set, keys, bitmap);
}

int64_t weir_handle_insert_into_keys(struct weir_handle *h, uint32_t set, struct weir_keys keys,
                                     uint64_t *bitmap)
{
	int64_t answer;
	if (h->sharded && set == 0) /* set 0 is the only set of a sharded handle */
		return weir_handle_insert_keys(h, keys, bitmap);
	WEIR__IN_SECTION(&h->rcu, answer = insert_keys(weir__generation(h), set, keys, bitmap));
	return answer;
}

int weir_handle_insert_into_hash(struct weir_handle *h, uint32_t set, uint64_t hash)
{
	return (int)weir_handle_insert_into_keys(h, set, weir_keys_hashes(&hash, 1), NULL);
}

int weir_handle_insert_into(struct weir_handle *h, uint32_t set, const void *key, size_t len)
{
	const struct iovec one = { (void *)(uintptr_t)key, len };
	return (int)weir_handle_insert_into_keys(h, set, weir_keys_iov(&one, 1), NULL);
}

int weir_handle_insert_into_u64(struct weir_handle *h, uint32_t set, uint64_t key)
{
	return (int)weir_handle_insert_into_keys(h, set, weir_keys_u64(&key, 1), NULL);
}
