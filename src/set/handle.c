/* SPDX-License-Identifier: MIT
 * Handles: create, free, and the functions on one key. */
#include <stdlib.h>
#include <string.h>
#include "ground/error.h"
#include "ground/threads.h"
#include "set/generation.h"
#include "set/sharded/sharded.h"

/* The external definitions of the functions that handle.h inlines. */
extern inline const struct weir_filter *weir_handle_get(const struct weir_handle *h);
extern inline bool weir_handle_contains(const struct weir_handle *h, const void *key, size_t len);
extern inline bool weir_handle_contains_u64(const struct weir_handle *h, uint64_t key);
extern inline bool weir_handle_contains_hash(const struct weir_handle *h, uint64_t hash);
extern inline int weir_handle_insert(struct weir_handle *h, const void *key, size_t len);
extern inline int weir_handle_insert_u64(struct weir_handle *h, uint64_t key);
extern inline int weir_handle_insert_hash(struct weir_handle *h, uint64_t hash);

_Static_assert(offsetof(struct weir_handle, verbs) == offsetof(struct weir_handle_head, verbs),
               "the frozen head");
_Static_assert(offsetof(struct weir_handle, generation) ==
                       offsetof(struct weir_handle_head, generation),
               "the frozen head");
_Static_assert(offsetof(struct weir_generation, current) ==
                       offsetof(struct weir_generation_head, current),
               "the frozen head");

/* ---- functions of a handle with one filter ---- */

static bool contains(const struct weir_handle *h, const void *key, size_t len)
{
	bool answer;
	WEIR__IN_SECTION(&h->rcu, answer = weir_contains(weir__generation(h)->current, key, len));
	return answer;
}

static bool contains_u64(const struct weir_handle *h, uint64_t key)
{
	bool answer;
	WEIR__IN_SECTION(&h->rcu, answer = weir_contains_u64(weir__generation(h)->current, key));
	return answer;
}

static bool contains_hash(const struct weir_handle *h, uint64_t hash)
{
	bool answer;
	WEIR__IN_SECTION(&h->rcu, answer = weir_contains_hash(weir__generation(h)->by_hash, hash));
	return answer;
}

static inline int insert_key_into(const struct weir_generation *g, const void *key, size_t len)
{
	return weir__alone(g) ? weir_insert(g->current, key, len) :
	                        weir__insert_key_beside(g, key, len);
}

static int insert(struct weir_handle *h, const void *key, size_t len)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu, answer = insert_key_into(weir__generation(h), key, len));
	return answer;
}

static inline int insert_u64_into(const struct weir_generation *g, uint64_t key)
{
	return weir__alone(g) ? weir_insert_u64(g->current, key) :
	                        weir__insert_u64_beside(g, key);
}

static int insert_u64(struct weir_handle *h, uint64_t key)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu, answer = insert_u64_into(weir__generation(h), key));
	return answer;
}

static int insert_hash(struct weir_handle *h, uint64_t hash)
{
	int answer;
	WEIR__IN_SECTION(&h->rcu, answer = weir__insert_hash(weir__generation(h), hash));
	return answer;
}

static const struct weir_handle_verbs one_filter = {
	contains, contains_u64, contains_hash, insert, insert_u64, insert_hash
};

/* ---- handles as objects ---- */

int weir__handle_init(struct weir_handle *h, struct weir_filter *first,
                      const struct weir_handle_options *options)
{
	int err = weir__filter_own(first);
	if (err)
		return err;
	struct weir_generation *record = weir__record(first, NULL, NULL, 1);
	if (!record) {
		weir__flag_release(&first->owned);
		return weir__fail(-ENOMEM, "no memory for a handle");
	}
	h->verbs = one_filter;
	h->rcu = weir__rcu(options->flavor);
	h->flags = options->flags;
	h->can = options->can;
	h->whole = h;
	(void)weir__publish(h, record);
	return 0;
}

int weir__handle_make(struct weir_handle **out, struct weir_filter *first,
                      struct weir_absence *absence, const struct weir_handle_options *options)
{
	struct weir_handle *h = NULL;
	if (posix_memalign((void **)&h, 64, sizeof *h))
		return weir__fail(-ENOMEM, "no memory for a handle");
	memset(h, 0, sizeof *h);
	h->absence = absence;
	int err = weir__handle_init(h, first, options);
	if (err)
		free(h);
	else
		*out = h;
	return err;
}

void weir__handle_free(struct weir_handle *h)
{
	weir__retired_wait(h); /* call_rcu's thread uses the handle */
	for (uint32_t i = 0; h->sharded && i < h->sharded->shards; i++)
		weir__handle_free(h->sharded->shard[i]);
	struct weir_generation *last = h->generation;
	weir__filter_free(last->current); /* for a sharded set, the view, which has no bits */
	weir__filter_free(last->previous);
	weir__absence_free(h->absence);
	free(last);
	free(h);
}

int weir_handle_destroy(struct weir_handle *h)
{
	WEIR__UNCANCELLED;
	if (!h)
		return 0;
	/* Check this before the claim. A follower may claim the handle for a refresh at any time,
	 * and the caller has to stop the follower whether it has claimed the handle or not. */
	if (weir__flag_held_acquire(&h->followed))
		return weir__fail(-EBUSY, "weir_handle_destroy: a follower of this handle runs: "
		                          "weir_follower_stop() comes first");
	int err = weir__destroy_begin(h, "weir_handle_destroy");
	if (err)
		return err;
	weir__synchronize(&h->rcu);
	weir__handle_free(h);
	return 0;
}

/* ---- functions on the current filter, or on the view of all shards ---- */

uint64_t weir_handle_hash(const struct weir_handle *h, const void *key, size_t len)
{
	uint64_t hash;
	WEIR__IN_SECTION(&h->rcu, hash = weir_hash(weir__generation(h)->current, key, len));
	return hash;
}

uint64_t weir_handle_hash_u64(const struct weir_handle *h, uint64_t key)
{
	uint64_t hash;
	WEIR__IN_SECTION(&h->rcu, hash = weir_hash_u64(weir__generation(h)->current, key));
	return hash;
}

void weir_handle_hash_keys(const struct weir_handle *h, struct weir_keys keys, uint64_t *out)
{
	WEIR__IN_SECTION(&h->rcu, weir_hash_keys(weir__generation(h)->current, keys, out));
}
